"""Grades made by hand: one of each kind that a report has to show well."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from grader.base.text import capital
from grader.grading.score import total
from grader.model import (
    Case,
    CaseGrade,
    CheckResult,
    Counters,
    Finding,
    FindingKind,
    Grade,
    ItemGrade,
    Named,
    RubricItem,
    Severity,
    StudentResults,
    Verdict,
    Visibility,
)

SOURCE = """\
#define TILE 16
__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float A_tile[TILE][TILE];
    __shared__ float B_tile[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a = t * TILE + threadIdx.x, b = t * TILE + threadIdx.y;
        A_tile[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
        B_tile[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
\t        sum += A_tile[threadIdx.y][i] * B_tile[i][threadIdx.x];
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
""".splitlines()

ITEMS = (
    RubricItem("compiles", "Compiles and has the right interface", Fraction(10), "compile"),
    RubricItem(
        "aligned", "Right for whole tiles", Fraction(25), "output", cases=("aligned",), needs=("compiles",)
    ),
    RubricItem(
        "edges",
        "Right for every other shape",
        Fraction(25),
        "output",
        cases=("non-aligned",),
        needs=("compiles",),
        partial="per-case",
        hint="guard the loads of A and B and the store to C",
    ),
    RubricItem(
        "barriers",
        "Threads wait for each other",
        Fraction(15),
        "races",
        needs=("compiles",),
        hint="everybody must have computed before anybody loads the next tile",
    ),
    RubricItem("speedup", "Faster than the naive kernel", Fraction(10), "speedup", needs=("compiles",)),
)

CASES = (
    Case("square-64", (("M", 64), ("K", 64), ("N", 64)), ("aligned",), Visibility.VISIBLE, "random", 101),
    Case("mp3", (("M", 55), ("K", 48), ("N", 43)), ("non-aligned",), Visibility.VISIBLE, "random", 102),
    Case("wide", (("M", 21), ("K", 50), ("N", 62)), ("non-aligned",), Visibility.VISIBLE, "random", 103),
    Case("dot-product", (("M", 1), ("K", 57), ("N", 1)), ("non-aligned",), Visibility.HIDDEN, "random", 104),
)

COUNTERS = Counters(global_load_bytes=64704, global_store_bytes=9460, flops=983040, barriers=73728)


def passing(item: RubricItem) -> CheckResult:
    """Full marks for one item, in all of its cases."""
    cases = [case for case in CASES if not item.cases or set(item.cases) & set(case.tags)]
    verdicts = (
        () if item.check in {"compile", "speedup"} else tuple((case.id, Verdict.PASS) for case in cases)
    )
    return CheckResult(item, Verdict.PASS, Fraction(1), "all is well", case_verdicts=verdicts)


def skipping(
    item: RubricItem, message: str = "a speedup needs a GPU; the emulator has no clock"
) -> CheckResult:
    """An item that was not judged here."""
    return CheckResult(item, Verdict.SKIP, Fraction(0), message)


def graded(
    name: str,
    results: tuple[CheckResult, ...],
    case_verdicts: Named[Verdict] = (),
    error: str = "",
    student_results: tuple[CheckResult, ...] = (),
) -> Grade:
    """Add results up to a grade, as scoring does; ``student_results`` is what students read of each item."""
    judged = [r for r in results if r.verdict in {Verdict.PASS, Verdict.FAIL}]
    verdicts = {r.verdict for r in results}
    overall = next((v for v in (Verdict.ERROR, Verdict.FAIL, Verdict.PASS) if v in verdicts), Verdict.SKIP)
    maximum = sum((r.item.points for r in judged), Fraction(0))
    return Grade(
        assignment_id="tiled-matmul",
        assignment_title="Tiled matrix multiplication",
        assignment_digest="a1" * 32,
        submission_id=name,
        submission_file=f"{name}.cu",
        submission_digest="5b" * 32,
        backend="emulator",
        device="",
        toolkit="nvcc 13.0.88",
        seed=20250101,
        verdict=overall,
        score=sum((r.fraction * r.item.points for r in judged), Fraction(0)),
        max_score=maximum,
        skipped_points=sum((r.item.points for r in results), Fraction(0)) - maximum,
        items=tuple(ItemGrade(r, r.fraction * r.item.points, r.item.points) for r in results),
        cases=tuple(_case_grade(case, dict(case_verdicts)) for case in CASES),
        versions=(("grader", "0.1.0"),),
        error=error,
        for_student=StudentResults(student_results, error=error) if student_results else None,
    )


def with_staff_texts(grade: Grade) -> Grade:
    """The grade, of which students read of each item what staff read."""
    results = tuple(item.result for item in grade.items)
    return replace(grade, for_student=StudentResults(results, grade.cause, grade.error))


def _case_grade(case: Case, verdicts: dict[str, Verdict]) -> CaseGrade:
    verdict = verdicts.get(case.id, Verdict.PASS)
    if verdict == Verdict.SKIP:
        return CaseGrade(case, verdict, None, None, 0.0, Counters())
    wrong = verdict == Verdict.FAIL
    return CaseGrade(case, verdict, float("inf") if wrong else 1.5e-6, 2.0e-5, 0.125, COUNTERS)


def full_marks() -> Grade:
    """Everything right; a speedup cannot be judged here."""
    results = (*map(passing, ITEMS[:4]), skipping(ITEMS[4]))
    return graded("ada", results, student_results=results)


def missing_barrier() -> Grade:
    """Right answers, and a race in a visible and in a hidden case."""
    race = Finding(
        FindingKind.RACE,
        "one thread overwrites `A_tile[3][5]` on line 9 while another is still reading it on line 13 "
        "(block (0, 0, 0), threads (5, 3, 0) and (0, 3, 0), case `mp3`)",
        hazard="WAR",
        file="grace.cu",
        line=9,
        other_line=13,
        case="mp3",
        block=(0, 0, 0),
        thread=(5, 3, 0),
        other_thread=(0, 3, 0),
        address="A_tile[3][5]",
        count=4096,
    )
    hidden = replace(
        race,
        message="one thread overwrites `B_tile` on line 10 (in a hidden case)",
        line=10,
        case="",
        block=None,
        thread=None,
        other_thread=None,
        address="B_tile",
        severity=Severity.WARNING,
        count=1,
    )
    verdicts = tuple((case.id, Verdict.FAIL) for case in CASES)
    barriers = CheckResult(
        ITEMS[3],
        Verdict.FAIL,
        Fraction(0),
        race.message + ", 4,096 times; and 1 more pair of lines",
        "add `__syncthreads()` between lines 13 and 14",
        (race, hidden),
        verdicts,
    )
    shown = race.message + ", 4,096 times. The hidden cases do not all pass"
    for_student = replace(barriers, message=shown, findings=(race,))
    others = (*map(passing, ITEMS[:3]),)
    results = (*others, barriers, skipping(ITEMS[4]))
    return graded("grace", results, student_results=(*others, for_student, skipping(ITEMS[4])))


def partial_credit() -> Grade:
    """Two of three odd shapes are wrong, a hidden one among them: a third of the points."""
    message = (
        "in case `mp3` (M=55, K=48, N=43) `C[0][0]` should be 1.25 but is nan "
        "(2,365 of 2,365 elements are wrong)"
    )
    wrong = Finding(FindingKind.WRONG_OUTPUT, message, case="mp3", address="C[0][0]")
    edges = CheckResult(
        ITEMS[2],
        Verdict.FAIL,
        Fraction(1, 3),
        f"1 of 3 cases is right. {capital(message)}. 1 hidden case fails as well",
        ITEMS[2].hint,
        (wrong,),
        (("mp3", Verdict.FAIL), ("wide", Verdict.PASS), ("dot-product", Verdict.FAIL)),
    )
    shown = f"1 of 2 cases is right. {capital(message)}. The hidden cases do not all pass"
    for_student = replace(edges, message=shown)
    before, after = (*map(passing, ITEMS[:2]),), (passing(ITEMS[3]), skipping(ITEMS[4]))
    verdicts = (("mp3", Verdict.FAIL), ("dot-product", Verdict.FAIL))
    return graded(
        "edsger", (*before, edges, *after), verdicts, student_results=(*before, for_student, *after)
    )


def compile_error() -> Grade:
    """Nothing compiles, so nothing else is judged, and no case has run."""
    finding = Finding(FindingKind.COMPILE, "expected a ';'", file="alan.cu", line=6)
    broken = CheckResult(ITEMS[0], Verdict.FAIL, Fraction(0), "nvcc reports 1 error", findings=(finding,))
    waiting = (
        CheckResult(item, Verdict.FAIL, Fraction(0), "not judged until “Compiles” passes", judged=False)
        for item in ITEMS[1:]
    )
    return graded("alan", (broken, *waiting), tuple((case.id, Verdict.SKIP) for case in CASES))


def our_error() -> Grade:
    """The emulator met an instruction that it does not know."""
    reason = "the emulator does not interpret `tcgen05.mma` yet (PTX line 41, from barbara.cu:13)"
    errors = (
        CheckResult(
            item, Verdict.ERROR, Fraction(0), f"not judged, through no fault of the submission: {reason}"
        )
        for item in ITEMS[1:4]
    )
    results = (passing(ITEMS[0]), *errors, skipping(ITEMS[4]))
    verdicts = tuple((case.id, Verdict.ERROR) for case in CASES)
    return graded("barbara", results, verdicts, error=reason, student_results=results)


def given_up() -> Grade:
    """The emulator gave the hidden case up: the item that it is of is not judged."""
    whole = full_marks()
    results = [item.result for item in whole.items]
    results[2] = skipping(ITEMS[2], "not judged: too much work for the emulator")
    grade = graded("gerda", tuple(results), student_results=tuple(results))
    cases = (*grade.cases[:-1], replace(grade.cases[-1], verdict=Verdict.SKIP, too_much_work=True))
    return replace(grade, cases=cases)


def hidden_item() -> Grade:
    """An item that students may not look into, and a message that reveals too much about a hidden case."""
    secret = replace(ITEMS[3], visibility=Visibility.HIDDEN, hint="the secret hint")
    finding = Finding(FindingKind.RACE, "the secret finding", line=9, case="dot-product")
    barriers = CheckResult(
        secret, Verdict.FAIL, Fraction(0), "the secret message", "the secret hint", (finding,)
    )
    edges = CheckResult(
        ITEMS[2],
        Verdict.FAIL,
        Fraction(2, 3),
        "In case `dot-product` (M=1, K=57, N=1) `C[0][0]` is wrong",
        "mind shapes such as 1 by 57",
        (Finding(FindingKind.WRONG_OUTPUT, "`C[0][0]` for K=57", case="dot-product"),),
        (("mp3", Verdict.PASS), ("wide", Verdict.PASS), ("dot-product", Verdict.FAIL)),
    )
    results = (*map(passing, ITEMS[:2]), edges, barriers, skipping(ITEMS[4]))
    return graded("donald", results, (("dot-product", Verdict.FAIL),))


def rubric_features() -> Grade:
    """Extra credit, a penalty, words of the staff, and items that wait for a day to be shown."""
    worth = Fraction(5)
    items = (
        ITEMS[0],
        ITEMS[1],
        ITEMS[2],
        RubricItem("shuffles", "Reduces within warps", worth, "structure", extra=True),
        RubricItem("lean", "Takes few registers", worth, "structure", penalty=True),
        RubricItem("style", "Has barriers", worth, "structure", visibility=Visibility.AFTER_DUE_DATE),
    )
    lost = "the kernel takes 80 registers per thread; at most 64 are asked for"
    results = (
        replace(passing(items[0]), message_staff="Good start."),
        passing(items[1]),
        passing(items[2]),
        CheckResult(items[3], Verdict.PASS, Fraction(1), "the kernel uses warp shuffles on line 7"),
        CheckResult(
            items[4],
            Verdict.FAIL,
            Fraction(0),
            lost,
            "store fewer values at once",
            (Finding(FindingKind.STRUCTURE, lost),),
            message_staff="Registers are what the next assignment is about.",
        ),
        CheckResult(items[5], Verdict.FAIL, Fraction(0), "the kernel uses no barriers, which is asked for"),
    )
    made = graded("hedy", results, student_results=results)
    totals = total(results)
    return replace(
        made, items=totals.items, score=totals.score, max_score=totals.max_score, verdict=totals.verdict
    )


def hostile() -> Grade:
    """Names and messages that try to be obeyed."""
    nasty = "\x1b[31m[red]<b>&\"'\x00\u202egnp.uc\x07\ud800\udce9\ufffe\x1b]0;owned\x07"
    finding = Finding(FindingKind.COMPILE, nasty + "x" * 50_000, file=nasty, line=3, address="A_tile[0]")
    broken = CheckResult(
        ITEMS[0], Verdict.FAIL, Fraction(0), nasty * 2000 + "\n]]>", nasty, (finding,) * 9, ()
    )
    waiting = (
        CheckResult(item, Verdict.FAIL, Fraction(0), "not judged until “Compiles” passes", judged=False)
        for item in ITEMS[1:]
    )
    grade = graded("x", (broken, *waiting), tuple((case.id, Verdict.SKIP) for case in CASES))
    return replace(grade, submission_id="=cmd|' /C calc'!A0" + nasty, submission_file="../" + nasty + ".cu")


GRADES = {
    "full-marks": full_marks,
    "missing-barrier": missing_barrier,
    "partial-credit": partial_credit,
    "compile-error": compile_error,
    "our-error": our_error,
    "hidden-item": hidden_item,
    "hostile": hostile,
}


def sample_class() -> list[Grade]:
    """All of them."""
    return [make() for make in GRADES.values()]
