"""The end of a program is reported as such: not as a fault of a kernel, nor as a file that is missing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.grading.checks import check_of
from grader.grading.checks.output import element_sentence
from grader.grading.checks.secrecy import visible_evidence
from grader.model import Finding, FindingKind, Verdict
from grader.model.compare import compare
from tests.grading.checks.judging import judge
from tests.grading.checks.runs import evidence, item, ran


def test_a_program_that_aborts_in_a_hidden_case_is_no_kernel_that_stops() -> None:
    """Only that the program did not come to its end is reported: neither the signal nor a kernel."""
    aborted = Finding(FindingKind.FAULT, "the program did not come to its end: it gave up", "signal")
    case = replace(ran("", hidden=True, ending="signal"), findings=(aborted,), completed=False)
    asked = check_of(item("memory"))
    result = asked.judge(visible_evidence(asked, evidence(case)))
    assert result.verdict is Verdict.FAIL
    assert "the program did not come to its end" in result.message
    assert "kernel" not in result.message
    assert {finding.hazard for finding in result.findings} <= {"program"}
    late = replace(case, findings=(replace(aborted, kind=FindingKind.TIMEOUT, hazard="time"),))
    assert "kernel" not in asked.judge(visible_evidence(asked, evidence(late))).message


def test_a_kernel_that_stops_in_a_hidden_case_is_still_reported_as_one() -> None:
    """Its fault has no ending of the program."""
    stopped = Finding(FindingKind.FAULT, "stops the whole launch")
    case = replace(ran("", hidden=True), findings=(stopped,))
    assert "the kernel stopped with a fault" in judge(item("memory"), evidence(case)).message


def test_a_status_is_reported_before_the_file_that_is_missing() -> None:
    """The program ended before it wrote; the status of a hidden case is not reported."""
    wanted = item("text", of="C.txt", lines="1\n")
    missing = "leaves no file `C.txt`, or one that is too large"
    result = judge(wanted, evidence(ran("", returncode=3)))
    assert result.message.endswith(f"the program ends with status 3 and {missing}")
    assert "the program left no file `C.txt`" in judge(wanted, evidence(ran(""))).message
    assert "status" not in judge(wanted, evidence(ran("", returncode=3, hidden=True))).message


def test_what_a_function_left_is_as_it_was_before_the_call() -> None:
    """A kernel is launched, a function called."""
    wrong = compare("C", np.zeros(3, np.float32), np.ones(3), np.zeros(3))
    assert wrong.first is not None
    wrong = replace(wrong, unwritten=3, first=replace(wrong.first, unwritten=True))
    assert "before the launch" in element_sentence(wrong)
    sentence = element_sentence(wrong, called=True)
    assert "is still what it was before the call" in sentence
    assert "as before the call" in sentence
    assert "launch" not in sentence
