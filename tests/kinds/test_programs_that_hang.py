"""Programs without a GPU that call its runtime for ever: how long the first case takes, and further ones."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import pytest

from grader.grading.assignment import load_assignment
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Grade

    class Graded(Protocol):
        """Grade a program that calls for ever in its first cases, and does something else in the others."""

        def __call__(self, body: str, hangs: int = 2) -> Grade:
            """Return the grade of a program with this body."""


YAML = """
id: wait
title: Wait
submission: {kind: program, seconds: 3, emulator_seconds: 1}
cases:
  - {id: one, arguments: ["1"]}
  - {id: two, arguments: ["2"]}
  - {id: three, arguments: ["3"], visibility: hidden}
rubric:
  - {id: ends, points: 5, check: exit, status: 0, partial: per-case}
"""
PROGRAM = r"""#include <cstdlib>
#include <unistd.h>
__global__ void nothing() {}
int main(int count, char **arguments) {
    nothing<<<1, 1>>>();
    if (std::atoi(arguments[1]) <= HANGS) while (cudaStreamQuery(0) != 17) {}
    BODY
    return 0;
}
"""


@pytest.fixture
def graded(tmp_path: Path) -> Graded:
    """Grade with the emulator's device, in the local sandbox."""
    (tmp_path / "assignment.yaml").write_text(YAML)
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(tmp_path), 1, tools, visible_only=False)

    def grade(body: str, hangs: int = 2) -> Grade:
        source = PROGRAM.replace("BODY", body).replace("HANGS", str(hangs)).encode()
        return pipeline.grade(plan, Submission("ada", "wait.cu", source, "0" * 8), tools)

    return grade


@pytest.mark.slow
def test_a_slow_case_is_right_after_any_that_do_not_end(graded: Graded) -> None:
    """A run that does not end in a quarter of the time is repeated with all of it."""
    *hanging, last = graded("usleep(1500000);").cases
    assert [case.verdict for case in hanging] == [Verdict.FAIL, Verdict.FAIL]
    assert last.verdict is Verdict.PASS


MANY = """
id: wait
title: Wait
submission: {kind: program, seconds: 2}
cases:
CASES
rubric:
  - {id: visible, points: 5, check: exit, status: 0, partial: per-case, cases: shown}
  - {id: hidden, points: 5, check: exit, status: 0, partial: per-case, cases: late}
"""
HOST = r"""#include <cstdlib>
#include <unistd.h>
int main(int count, char **arguments) {
    if (std::atoi(arguments[1]) != 10) for (;;) usleep(100000);
    usleep(1500000);
    return 0;
}
"""


@pytest.mark.slow
def test_after_eight_cases_that_hang_what_is_slow_is_not_judged(tmp_path: Path) -> None:
    """It may be right, and twenty cases that hang do not cost twenty times; hidden cases learn why, too."""
    cases = [
        f"  - {{id: c{n}, arguments: ['{n}'], tags: [{'late' if n > 8 else 'shown'}]"
        f"{', visibility: hidden' if n > 8 else ''}}}"
        for n in range(1, 11)
    ]
    (tmp_path / "assignment.yaml").write_text(MANY.replace("CASES", "\n".join(cases)))
    tools = Tools(find_toolchain(), LocalSandbox(), shared_builds())
    plan = pipeline.make_plan(load_assignment(tmp_path), 1, tools, visible_only=False)
    grade = pipeline.grade(plan, Submission("ada", "wait.cu", HOST.encode(), "0" * 8), tools)
    assert [case.verdict for case in grade.cases] == [Verdict.FAIL] * 8 + [Verdict.SKIP] * 2
    assert max(case.seconds or 0 for case in grade.cases[8:]) < 1.9
    shown, late = (item.result for item in grade.items)
    assert (shown.verdict, shown.fraction) == (Verdict.FAIL, Fraction(0))
    assert late.verdict is Verdict.SKIP
    assert late.message == (
        "not judged in a hidden case: it did not end in 1 s, and got no more, for 8 other cases did not end"
        " in 2 s"
    )
    assert grade.took_too_much_work


@pytest.mark.slow
def test_a_slow_case_after_one_that_does_not_end_has_all_of_its_time(graded: Graded) -> None:
    """It is right, and takes more than a case is left with where several did not end."""
    slow = "usleep(1500000);"
    assert [case.verdict for case in graded(slow, 1).cases] == [Verdict.FAIL, Verdict.PASS, Verdict.PASS]


@pytest.mark.slow
def test_a_hidden_case_that_ends_after_one_that_does_not_is_judged(graded: Graded) -> None:
    """It takes more calls than none, and is right."""
    *_, last = graded("for (int i = 0; i < 1000; ++i) cudaStreamQuery(0);").cases
    assert last.verdict is Verdict.PASS


@pytest.mark.slow
def test_what_launches_take_of_the_lesser_time_is_no_fault_of_the_programs(
    graded: Graded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hidden case whose launches alone take longer is not judged, which is no zero."""
    monkeypatch.setattr("grader.kinds.host_runs.running.STEPS_A_SECOND", 10**9)
    slow = "nothing<<<4096, 1024>>>(); for (;;) nothing<<<4096, 1024>>>();"
    *_, last = graded(slow).cases
    assert last.verdict is Verdict.SKIP
