"""Invisible cases and items leak nothing into anything that a student sees, until their release."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from grader.classroom.batch.folder import OutFolder
from grader.classroom.batch.journal import BatchSession
from grader.cli.main import main
from grader.kinds import pipeline
from grader.model import (
    Assignment,
    Build,
    Case,
    CaseEvidence,
    Comparison,
    Counters,
    Evidence,
    Finding,
    FindingKind,
    Grade,
    KernelInterface,
    ProgramRun,
    Resources,
    RubricItem,
    Structure,
    Submission,
    Visibility,
    WrongElement,
)
from grader.reports import text
from grader.reports.files import of_submission
from tests.reports.sample_grades import missing_barrier

if TYPE_CHECKING:
    from grader.reports.audience import Released

KEPT = (Visibility.HIDDEN, Visibility.AFTER_DUE_DATE, Visibility.AFTER_PUBLISHED)

ITEMS = (
    RubricItem("compiles", "compiles", Fraction(5), "compile"),
    RubricItem("right", "right answers", Fraction(10), "output", partial="per-case"),
    RubricItem("races", "no races", Fraction(10), "races"),
    RubricItem("memory", "memory", Fraction(10), "memory", partial="per-case"),
    RubricItem(
        "traffic",
        "little traffic",
        Fraction(10),
        "traffic",
        options=(("metric", "global_load_bytes"), ("baseline", "naive"), ("at_most", Fraction(1, 10))),
    ),
)


def secrets(number: int) -> tuple[str, ...]:
    """The secrets of the case with this number: id, shape, seed, values, places, counts, times and map."""
    prefix = 7000 + 100 * number
    return (f"case-with-{number}-rows", *(str(prefix + offset) for offset in range(1, 14)), f"X{number}X.#")


def kept(number: int, visibility: Visibility) -> CaseEvidence:
    """A case of which everything is known and wrong, each number one of its secrets."""
    name, *numbers, drawn = secrets(number)
    m, n, seed, expected, got, row, column, wrong, block, thread, times, loads, seconds = map(int, numbers)
    case = Case(name, (("M", m), ("N", n)), ("tagged",), visibility, "random", seed)
    first = WrongElement((row, column), float(expected), float(got), 1e-6)
    comparison = Comparison(
        "C", 9 * wrong, wrong, 0, float(got), 1e-6, first, (drawn, drawn), "it is transposed"
    )
    place: dict[str, Any] = {"line": 12, "block": (block, 0, 0), "thread": (thread, 0, 0)}
    place |= {"case": name, "count": times}
    findings = (
        Finding(
            FindingKind.RACE, "", hazard="RAW", address=f"tile[{row}]", other_thread=(thread, 1, 0), **place
        ),
        Finding(FindingKind.OUT_OF_BOUNDS, "", address=f"A[{column}]", **place),
    )
    return CaseEvidence(
        case,
        (comparison,),
        findings,
        counters=Counters(global_load_bytes=loads),
        baselines=(("naive", Counters(global_load_bytes=loads + 1)),),
        seconds=float(seconds),
    )


def fine() -> CaseEvidence:
    """A case that is visible, and right."""
    case = Case("small", (("M", 4), ("N", 4)), (), Visibility.VISIBLE, "random", 1)
    counters = Counters(global_load_bytes=64)
    right = (Comparison("C", 16, 0, 0, 0.0, 1e-6),)
    return CaseEvidence(case, right, counters=counters, baselines=(("naive", counters),))


def graded(*cases: CaseEvidence, items: tuple[RubricItem, ...] = ITEMS) -> Grade:
    """The grade of these cases."""
    interface = KernelInterface("k", (), (), (), ())
    assignment = Assignment("a", "An assignment", "r", interface, (), items, None, Path(), "digest")
    plan = pipeline.Plan(assignment, 424243, tuple(case.case for case in cases), ())
    build = Build(ok=True, resources=Resources())
    evidence = Evidence("emulator", build, cases, structures=(("k", Structure()),))
    return pipeline.judge(plan, Submission("ada", "ada.cu", b"", ""), evidence)


def everything(grade: Grade, released: Released = "") -> str:
    """All that a student may get to see."""
    files = of_submission(grade, released)
    shown = [files[name] for name in ("junit.xml", "results.json", "report.html")]
    return "\n".join([*shown, text.render(grade).plain])


def leaks(number: int, shown: str) -> list[str]:
    """The secrets of a case that are in a text."""
    plain = shown.replace(",", "")
    return [secret for secret in secrets(number) if secret in shown or secret in plain]


@pytest.mark.parametrize("visibility", KEPT)
def test_a_case_that_is_not_visible_leaks_nothing(visibility: Visibility) -> None:
    """No id, shape, seed, value, place, count, time or map; neither alone nor beside one that is visible."""
    for cases in ((kept(1, visibility),), (fine(), kept(1, visibility), kept(2, visibility))):
        shown = everything(graded(*cases))
        assert leaks(1, shown) + leaks(2, shown) == []
        assert "424243" not in shown


def test_this_test_would_see_a_leak() -> None:
    """The same case, where it is visible, tells nearly all of it."""
    assert len(leaks(1, everything(graded(kept(1, Visibility.VISIBLE))))) > 8


def test_traffic_of_hidden_cases_is_reported_without_digits() -> None:
    """A ratio over hidden cases is a number that depends on their shapes."""
    right = (Comparison("C", 16, 0, 0, 0.0, 1e-6),)
    case = replace(kept(1, Visibility.HIDDEN), comparisons=right, findings=())
    ours = replace(case, baselines=(("naive", Counters(global_load_bytes=71_130)),))
    shown = everything(graded(ours))
    assert "the hidden cases pass" in shown
    assert "9.9" not in shown
    assert leaks(1, everything(graded(fine(), ours))) == []


def test_the_files_of_a_batch_quote_the_lines_that_findings_name() -> None:
    """JUnit's and Gradescope's too, where what was handed in is kept."""
    source = [f"int line_{number};" for number in range(1, 60)]
    files = of_submission(missing_barrier(), source=source)
    quoted = {name for name in ("junit.xml", "results.json", "report.html") if "int line_13;" in files[name]}
    assert quoted == {"junit.xml", "results.json", "report.html"}


def test_what_is_released_is_shown_and_the_rest_is_not() -> None:
    """The due date comes before grades are published; what is hidden stays hidden."""
    grade = graded(*(kept(number, visibility) for number, visibility in enumerate(KEPT)))
    on_the_day, published = (of_submission(grade, day)["junit.xml"] for day in ("due_date", "published"))
    assert [bool(leaks(number, on_the_day)) for number in range(3)] == [False, True, False]
    assert [bool(leaks(number, published)) for number in range(3)] == [False, True, True]


@pytest.mark.parametrize("visibility", KEPT)
def test_an_item_that_is_not_visible_tells_its_verdict_alone(visibility: Visibility) -> None:
    """Not even of cases that are visible; on Gradescope its own test tells more, on the day."""
    items = (ITEMS[0], replace(ITEMS[1], visibility=visibility, hint="mind the edge", message_fail="oh no"))
    grade = graded(kept(1, Visibility.VISIBLE), items=items)
    files = of_submission(grade)
    shown = files["report.html"] + text.render(grade).plain + json.loads(files["results.json"])["output"]
    assert [
        word for word in ("mind the edge", "oh no", "transposed", "7104", "[7106]") if word in shown
    ] == []
    test = json.loads(files["results.json"])["tests"][1]
    assert (test["visibility"], "transposed" in test["output"]) == (
        visibility.value,
        visibility is not Visibility.HIDDEN,
    )


def test_a_programs_hidden_case_leaks_neither_its_input_nor_its_output() -> None:
    """Its input and its output would be the answer."""
    case = Case("secret-7001", (), (), Visibility.HIDDEN, "", 1, arguments=("--size=7002",), stdin="7003")
    run = ProgramRun("exit", 0, b"the answer is 7004")
    item = RubricItem("says", "says", Fraction(5), "text", options=(("of", "stdout"), ("exact", "7005")))
    shown = everything(graded(CaseEvidence(case, program=run), items=(item,)))
    assert [secret for secret in ("7001", "7002", "7003", "7004", "7005") if secret in shown] == []


def test_the_report_command_gets_what_is_released(tmp_path: Path) -> None:
    """It hides it again, if it is not given the next time."""
    grade = graded(fine(), kept(1, Visibility.AFTER_DUE_DATE))
    folder = tmp_path / "grades" / "ada"
    folder.mkdir(parents=True)
    (folder / "record.json").write_text(of_submission(grade)["record.json"])
    out = OutFolder(tmp_path)
    out.begin(BatchSession(grade.assignment_id, "digest", "emulator", grade.seed, "0.1.0", "13.0"))
    out.note("ada", grade.submission_digest, grade.verdict)
    out.note_class(["ada"])
    assert main(["report", str(tmp_path), "--released", "due_date"]) == 0
    assert "case-with-1-rows" in (folder / "junit.xml").read_text()
    assert main(["report", str(tmp_path)]) == 0
    assert "case-with-1-rows" not in (folder / "junit.xml").read_text()
