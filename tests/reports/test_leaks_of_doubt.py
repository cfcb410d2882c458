"""Hidden cases that could not be judged look to students like those that fail, in everything they get."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import (
    TOO_MUCH_WORK,
    Clause,
    Evidence,
    Finding,
    FindingKind,
    Grade,
    Severity,
    Submission,
    Verdict,
)
from grader.reports import wording
from grader.reports.audience import student_view
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.mistakes import mistake_file
from tests.reports.leaving import leaving
from tests.reports.test_leaks import FUNCTION, FUNCTION_RUBRIC, HEAD, HIDDEN, RUBRIC, STAFF, grade

if TYPE_CHECKING:
    from pathlib import Path

    from grader.kinds.plan import Plan

UNENDED: dict[str, Any] = {"completed": False, "comparisons": (), "findings": (), "followed": False}
RACE = Finding(FindingKind.RACE, "a race", "RAW", severity=Severity.ERROR, line=7, address="shared")
OUTSIDE = Finding(FindingKind.OUT_OF_BOUNDS, "outside", severity=Severity.ERROR, line=8, address="A")
OUTCOMES: dict[str, dict[str, Any]] = {
    "does not end": UNENDED | {"findings": (Finding(FindingKind.TIMEOUT, "hangs", line=9),)},
    "faults": UNENDED | {"findings": (Finding(FindingKind.FAULT, "traps", line=9),)},
    "an error of ours": UNENDED | {"error": "the emulator met something in case `first-one`"},
    "a question": UNENDED | {"question": "it asks for `fork` with M=17"},
    "too much work": UNENDED | {"too_much_work": TOO_MUCH_WORK},
    "own work": UNENDED | {"too_much_work": TOO_MUCH_WORK, "is_own_work": True},
    "cut short": UNENDED,
    "a race": {"findings": (RACE,)},
    "perhaps a race": {"undecided": ((FindingKind.RACE, "racecheck did not end"),)},
    "no time for races": {"undecided": ((FindingKind.RACE, "…"),), "too_much_work": TOO_MUCH_WORK},
    "an access outside": {"findings": (OUTSIDE,)},
    "perhaps an access outside": {"undecided": ((FindingKind.OUT_OF_BOUNDS, "memcheck did not end"),)},
    "no time for accesses": {
        "undecided": ((FindingKind.OUT_OF_BOUNDS, "…"),),
        "too_much_work": TOO_MUCH_WORK,
    },
    "of the host": {"of_host": True},
    "perhaps of the host": {"computed_by": Clause("unknown-author")},
}
"""Outcomes of hidden cases, each with what its evidence says."""

OURS = ("an error of ours", "cut short")
"""Those that no kernel chooses: they stay errors, for they must not cost points."""

NEEDS = "\n  - {id: after, points: 5, check: output, needs: [barriers], cases: [first-one, second-one]}\n"
WHERE = ("first-one", "second-one", "both")


def with_outcome(evidence: Evidence, outcome: str, where: str) -> Evidence:
    """The evidence with this outcome in one hidden case, or in both."""
    cases = (
        replace(case, **OUTCOMES[outcome])
        if not case.case.is_visible and where in ("both", case.case.id)
        else case
        for case in evidence.cases
    )
    return replace(evidence, cases=tuple(cases))


def with_visible(evidence: Evidence, outcome: str) -> Evidence:
    """The evidence with this outcome in the visible case; as it is where there is none."""
    if not outcome:
        return evidence
    return replace(
        evidence,
        cases=tuple(
            replace(case, **OUTCOMES[outcome]) if case.case.is_visible else case for case in evidence.cases
        ),
    )


_MADE: dict[tuple[str, str], tuple[Plan, Submission, Evidence]] = {}


def setting(folder: Path, kind: str, name: str) -> tuple[Plan, Submission, Evidence]:
    """A plan with two hidden cases, a submission, and the evidence of it; each is made once."""
    if (kind, name) not in _MADE:
        _MADE[kind, name] = _made_in(folder, kind, name)
    return _MADE[kind, name]


def _made_in(folder: Path, kind: str, name: str) -> tuple[Plan, Submission, Evidence]:
    head, rubric = (HEAD, RUBRIC + NEEDS) if kind == "kernel" else (FUNCTION, FUNCTION_RUBRIC + NEEDS)
    file = STAFF / "solution.cu" if name == "solution" else mistake_file(STAFF / f"mistakes/{name}.cu")
    if kind == "function":
        file = folder / "solve.cu"
        file.write_text(RIGHT, encoding="utf-8")
    graded = grade(folder, HIDDEN[0], file, rubric, head)
    assert graded.evidence
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(folder / "assignments/leaky"), 20, tools, visible_only=False)
    return plan, Submission("me", file.name, file.read_bytes(), ""), graded.evidence


RIGHT = """\
__global__ void product(const float *A, const float *B, float *C, int M, int K, int N) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (row < M && column < N) for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  if (row < M && column < N) C[row * N + column] = sum;
}
void solve(const float *A, const float *B, float *C, int M, int K, int N) {
  float *a, *b, *c;
  cudaMalloc(&a, 4 * M * K); cudaMalloc(&b, 4 * K * N); cudaMalloc(&c, 4 * M * N);
  cudaMemcpy(a, A, 4 * M * K, cudaMemcpyHostToDevice); cudaMemcpy(b, B, 4 * K * N, cudaMemcpyHostToDevice);
  product<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, K, N);
  cudaMemcpy(C, c, 4 * M * N, cudaMemcpyDeviceToHost);
  cudaFree(a); cudaFree(b); cudaFree(c);
}
"""


def shown_of(graded: Grade) -> dict[str, str]:
    """Everything that a student gets, without what differs from run to run."""
    cases = tuple(replace(case, seconds=0.0) for case in graded.cases)
    return leaving(replace(graded, seconds=(), cases=cases), [])


def outcomes_for_student(graded: Grade) -> dict[str, tuple[object, ...]]:
    """The outcome of each item for a student: verdict, points, and its hidden cases together."""
    return {
        one.result.item.id: (one.result.verdict, one.points, one.result.case_verdicts)
        for one in student_view(graded).items
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name"), [("kernel", "solution"), ("kernel", "no_first_barrier"), ("function", "solution")]
)
@pytest.mark.parametrize("visible", ["", "too much work", "a question", "an error of ours", "a race"])
def test_each_item_has_two_outcomes_whatever_hidden_cases_come_to(
    tmp_path: Path, kind: str, name: str, visible: str
) -> None:
    """A failure, no judgement and a question, in one hidden case or in both, give the same."""
    plan, submission, evidence = setting(tmp_path, kind, name)
    evidence = with_visible(evidence, visible)
    first_of: dict[str, dict[str, str]] = {}
    of_items = defaultdict(set)
    for outcome, where in [
        ("", ""),
        *((one, where) for one in OUTCOMES if one not in OURS for where in WHERE),
    ]:
        changed = with_outcome(evidence, outcome, where) if outcome else evidence
        graded = pipeline.judge(plan, submission, changed)
        outcomes = outcomes_for_student(graded)
        for item in plan.assignment.rubric:
            needed = tuple(outcomes[need] for need in item.needs)  # known without this item
            of_items[item.id, needed].add(outcomes[item.id])
        shown = shown_of(graded)
        first = first_of.setdefault(repr(outcomes), shown)
        for format_name, content in first.items():
            assert content == shown[format_name], (outcome, where, format_name)
    assert {item: seen for item, seen in of_items.items() if len(seen) > 2} == {}


@pytest.mark.slow
@pytest.mark.parametrize("outcome", OURS)
def test_an_error_of_ours_in_a_hidden_case_gives_no_platform_a_score(tmp_path: Path, outcome: str) -> None:
    """It is no bit that a kernel chooses, and a lower score would be a student's loss for our failure."""
    plan, submission, evidence = setting(tmp_path, "kernel", "solution")
    view = student_view(pipeline.judge(plan, submission, with_outcome(evidence, outcome, "first-one")))
    right = next(item for item in view.items if item.result.item.id == "right")
    assert right.result.verdict is Verdict.ERROR
    assert "the hidden cases could not be judged" in right.result.message
    assert wording.unscored(view)


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["a question", "too much work", "own work"])
def test_staffs_record_keeps_what_was_not_judged(tmp_path: Path, outcome: str) -> None:
    """No item that was not judged is a zero there, and no platform's number is the staff's."""
    plan, submission, evidence = setting(tmp_path, "kernel", "solution")
    graded = pipeline.judge(plan, submission, with_outcome(evidence, outcome, "first-one"))
    fails = pipeline.judge(plan, submission, with_outcome(evidence, "does not end", "first-one"))
    right = next(item for item in graded.items if item.result.item.id == "right")
    assert right.result.verdict in (Verdict.ERROR, Verdict.SKIP)
    assert wording.unscored(graded)
    view = student_view(graded)
    assert (view.verdict, view.max_score, view.error) == (Verdict.FAIL, fails.max_score, "")
    assert view.items[1].points == fails.items[1].points
    assert not view.skipped_points
    assert student_view(view) == view
