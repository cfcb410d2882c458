"""The `compile` check."""

from __future__ import annotations

from typing import Any

import pytest

from grader.grading.checks import run_checks
from grader.model import Build, Finding, FindingKind, Severity, Verdict
from tests.grading.checks.judging import judge

Make = Any
"""A fixture of conftest: it takes what the record takes."""


def failed(*findings: Finding) -> Build:
    """A build that did not succeed."""
    return Build(ok=False, findings=findings, toolkit="13.0.88")


def test_a_build_earns_all_points(item: Make, evidence: Make) -> None:
    """It compiles."""
    result = judge(item("compile"), evidence())
    assert [result.verdict, result.fraction] == [Verdict.PASS, 1]


def test_warnings_are_reported_and_cost_nothing(item: Make, evidence: Make) -> None:
    """They come along as findings."""
    warning = Finding(FindingKind.COMPILE, "unused variable", severity=Severity.WARNING)
    result = judge(item("compile"), evidence(build=Build(ok=True, warnings=(warning, warning))))
    assert result.verdict is Verdict.PASS
    assert result.message == "the submission compiles, with 2 warnings"
    assert result.findings == (warning, warning)


def test_the_first_error_is_reported_with_its_line(item: Make, evidence: Make) -> None:
    """A warning before it does not count; the number of further errors is reported."""
    warning = Finding(FindingKind.COMPILE, "unused", line=2, severity=Severity.WARNING)
    error = Finding(FindingKind.COMPILE, 'expected a ";"', line=12)
    result = judge(item("compile", hint="look there"), evidence(build=failed(warning, error, error, error)))
    assert [result.verdict, result.fraction] == [Verdict.FAIL, 0]
    assert result.message == 'line 12: expected a ";" (and 2 more errors)'
    assert result.hint == "look there"


def test_the_hint_of_the_staff_waits_for_a_compiler(item: Make, evidence: Make) -> None:
    """It speaks of the compiler's errors: what never reached a compiler has other reasons."""
    problem = Finding(
        FindingKind.COMPILE, "the folder holds 2 .cu files (`a.cu`, `b.cu`); expected exactly one"
    )
    result = judge(item("compile", hint="repair the first error"), evidence(build=Build(False, (problem,))))
    assert (result.verdict, result.hint) == (Verdict.FAIL, "")


@pytest.mark.parametrize(
    ("finding", "message"),
    [
        (Finding(FindingKind.COMPILE, "the folder holds no .cu file"), "the folder holds no .cu file"),
        (Finding(FindingKind.COMPILE, "bad \x1b[31mred\x00"), r"bad \x1b[31mred\x00"),
        (Finding(FindingKind.COMPILE, "see line 30", line=3), "line 3: see line 30"),
        (Finding(FindingKind.COMPILE, "", line=3), "the submission does not compile on line 3"),
    ],
)
def test_a_problem_is_shown_as_its_message_made_harmless(
    item: Make, evidence: Make, finding: Finding, message: str
) -> None:
    """A submission may hold anything, and its message is printable all the same."""
    assert judge(item("compile"), evidence(build=failed(finding))).message == message


def test_a_flood_of_text_is_cut(item: Make, evidence: Make) -> None:
    """A compiler may print a template's whole life."""
    message = judge(
        item("compile"), evidence(build=failed(Finding(FindingKind.COMPILE, "x" * 10_000)))
    ).message
    assert len(message) == 500
    assert message.endswith("…")


def test_a_failed_build_without_a_message_still_fails(item: Make, evidence: Make) -> None:
    """There is always a message."""
    assert judge(item("compile"), evidence(build=failed())).message == "the submission does not compile"


def test_a_compiler_that_is_missing_is_our_error(item: Make, evidence: Make) -> None:
    """No student pays for it."""
    result = judge(item("compile"), evidence(build=Build(ok=False, error="nvcc is not installed")))
    assert result.verdict is Verdict.ERROR
    assert "nvcc is not installed" in result.message


def test_without_a_compile_item_the_first_item_reports_why_nothing_was_built(
    item: Make, evidence: Make
) -> None:
    """A student must see the compiler's error, whatever the rubric asks for; once is enough."""
    error = Finding(FindingKind.COMPILE, 'expected a ";"', line=12)
    rubric = (item("races", "first"), item("memory", "second"))
    first, second = run_checks(rubric, evidence(build=failed(error)))
    assert (first.findings, second.findings) == ((error,), ())
    asked, other = run_checks(
        (item("compile", "asked"), item("races", "other")), evidence(build=failed(error))
    )
    assert asked.findings
    assert not other.findings
