"""A program or function that ran on a GPU and on the emulator: whose word counts for which part of a case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grader.grading.checks.undefined import on_gpu as remark_on_gpu
from grader.grading.checks.undefined import undefined_cause
from grader.kinds.host_runs.merging import decided, is_undefined
from grader.model import (
    Case,
    CaseEvidence,
    Clause,
    Comparison,
    Finding,
    FindingCode,
    FindingKind,
    ProgramRun,
    Severity,
    Visibility,
)

CASE = Case("small", (("N", 64),), (), Visibility.VISIBLE, "random", 1)
RACE = Finding(FindingKind.RACE, "two threads use `tile[0]`", line=13)
ON_GPU = CaseEvidence(
    CASE,
    (Comparison("C", total=64, wrong=12, unwritten=0, max_error=1.0, error_bound=0.1),),
    program=ProgramRun("exit", 0, b"", b"", (), 0.2),
    seconds=0.2,
)
EMULATED = CaseEvidence(
    CASE,
    (Comparison("C", total=64, wrong=0, unwritten=0, max_error=0.0, error_bound=0.1),),
    (RACE,),
    program=ProgramRun("exit", 0, b"right\n", b"", (), 3.0),
    seconds=3.0,
)


def test_a_case_with_a_race_has_the_results_of_the_emulator_and_a_remark_about_the_gpus() -> None:
    """The host's results are the emulator's, too."""
    both = decided(ON_GPU, EMULATED)
    assert [comparison.wrong for comparison in both.comparisons] == [0]
    assert both.program is EMULATED.program
    assert both.seconds == ON_GPU.seconds
    assert undefined_cause([both]) == "the race on line 13"
    assert remark_on_gpu([both]).startswith("On the GPU of this run 12 of 64 elements are wrong in `C`")


def test_a_gpu_that_stopped_a_program_with_a_race_is_a_remark() -> None:
    """The same program may end in the next run."""
    fault = Finding(FindingKind.FAULT, "the program was ended by signal 11", case="small")
    stopped = replace(ON_GPU, completed=False, findings=(fault,))
    both = decided(stopped, EMULATED)
    assert both.completed
    assert [f.severity for f in both.findings if f.kind is FindingKind.FAULT] == [Severity.INFO]
    assert both.comparisons[0].wrong_on_device is None


@pytest.mark.parametrize(
    "changes",
    [
        {"findings": ()},
        {"findings": (replace(RACE, severity=Severity.WARNING),)},
        {"findings": (replace(RACE, code=FindingCode.UNSET_IN_SOME_THREADS),)},
        {"findings": (Finding(FindingKind.HOST, "is never freed"),)},
        {"question": "asked for textures"},
        {"error": "no room"},
        {"too_much_work": Clause("more-steps")},
    ],
)
def test_the_gpu_decides_where_nothing_is_undefined_for_certain(changes: dict[str, Any]) -> None:
    """Or where the emulator has not followed the case."""
    assert is_undefined(EMULATED)
    assert not is_undefined(replace(EMULATED, **changes))
