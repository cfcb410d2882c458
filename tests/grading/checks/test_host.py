"""The mistakes that `host` may ignore, the docs that list them, and the findings that cost the item."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from grader.grading.checks.host import MISTAKES
from grader.kinds.host_runs.on_emulator import CODES, severity_of
from grader.model import Finding, FindingKind, Severity, Verdict
from grader.running.device.errors import HostCode
from tests.grading.checks.judging import judge

Make = Any
"""A fixture of conftest: it takes what the record takes."""

DOCS = Path(__file__).parents[3] / "docs" / "format.md"


def test_the_table_of_the_docs_names_all_mistakes_and_how_grave_they_are() -> None:
    """As the code has them."""
    rows = re.findall(r"^\| `([\w-]+)` \| (error|warning|remark) \|", DOCS.read_text(), re.MULTILINE)
    words = {"info": "remark"}
    codes = {str(shown).removeprefix("host-"): code for code, shown in CODES.items()}
    expected = {name: words.get(severity_of(codes[name]), severity_of(codes[name])) for name in MISTAKES}
    assert dict(rows) == expected
    assert set(codes) - set(MISTAKES) == {HostCode.UNSUPPORTED}


FOUND = (
    Finding(FindingKind.HOST, "copies too much", line=7, severity=Severity.WARNING),
    Finding(FindingKind.HOST, "is never freed", line=9, severity=Severity.INFO),
)


@pytest.mark.parametrize(
    ("severity", "verdict", "message"),
    [
        ("error", Verdict.PASS, "no mistake of the host in 1 case"),
        ("warning", Verdict.FAIL, "copies too much"),
        ("info", Verdict.FAIL, "copies too much; and at 1 more place"),
    ],
)
def test_each_mistake_is_shown_once_and_the_message_is_of_what_costs(
    severity: str, verdict: Verdict, message: str, item: Make, case: Make, evidence: Make
) -> None:
    """Whatever the item counts, remarks and warnings stand among its findings."""
    result = judge(item("host", options={"severity": severity}), evidence(case("a", findings=FOUND)))
    assert (result.verdict, result.message) == (verdict, message)
    assert [finding.line for finding in result.findings] == [7, 9]


def test_a_remark_that_costs_the_item_is_its_message(item: Make, case: Make, evidence: Make) -> None:
    """Also where there is nothing else."""
    result = judge(item("host", options={"severity": "info"}), evidence(case("a", findings=FOUND[1:])))
    assert (result.verdict, result.message) == (Verdict.FAIL, "is never freed")
    assert [finding.line for finding in result.findings] == [9]
