"""Evidence of programs, made by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from grader.model import (
    Build,
    Case,
    CaseEvidence,
    CheckResult,
    Evidence,
    ExpectedNumber,
    ProgramRun,
    RubricItem,
    Visibility,
)
from tests.grading.checks.conftest import SOUND

HIDDEN = Visibility.HIDDEN


def item(check: str, *, partial: str = "", **options: Any) -> RubricItem:  # noqa: ANN401 - as the spec holds it
    """A rubric item of 10 points for all cases."""
    return RubricItem(
        "i",
        "an item",
        Fraction(10),
        check,
        partial=partial,
        options=tuple((SOUND.get(check, {}) | options).items()),
    )


def number(name: str, after: str, value: float, within: float = 0, nth: int = 1) -> ExpectedNumber:
    """A number that a program must print."""
    return ExpectedNumber(name, after, Fraction(str(value)), Fraction(str(within)), nth=nth)


def case(name: str, *, hidden: bool = False, arguments: tuple[str, ...] = (), stdin: str = "") -> Case:
    """A case of a program."""
    visibility = HIDDEN if hidden else Visibility.VISIBLE
    return Case(name, (), (), visibility, "", 1, arguments=arguments, stdin=stdin)


def ran(stdout: bytes | str = b"", name: str = "plain", **fields: Any) -> CaseEvidence:  # noqa: ANN401 - records' own
    """A run that ended well by default; ``fields`` are those of the records."""
    about = {key: fields.pop(key) for key in ("hidden", "arguments", "stdin") if key in fields}
    known = {key: fields.pop(key) for key in ("comparisons", "findings") if key in fields}
    printed = stdout.encode() if isinstance(stdout, str) else stdout
    run = ProgramRun(fields.pop("ending", "exit"), fields.pop("returncode", 0), printed, **fields)
    return CaseEvidence(case(name, **about), program=run, seconds=run.seconds, **known)


def evidence(*cases: CaseEvidence, build: Build | None = None) -> Evidence:
    """Evidence of these cases, on the host."""
    return Evidence("host", build or Build(ok=True), cases)


def result_text(result: CheckResult) -> str:
    """The whole text of a result, for golden files."""
    lines = [f"{result.verdict.value} {result.fraction}", result.message]
    for finding in result.findings:
        where = f" in {finding.case}" if finding.case else ""
        lines.append(f"- {finding.kind.value}{where}: {finding.message}")
    return "\n".join(lines) + "\n"
