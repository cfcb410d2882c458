"""The planted bugs: that they are what they should be, and the message about a tool that misses its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.model import Finding, FindingKind
from grader.simulation.emulator.launch import run
from grader.toolchain.gpu import trial
from grader.toolchain.gpu.sanitizer import KINDS, TOOLS, ToolReport, files, read
from grader.toolchain.gpu.trial import RIGHT, missed, planted
from tests.simulation.emulator import nvcc
from tests.toolchain.gpu.captured import CAPTURES, answer, left, shortened

if TYPE_CHECKING:
    from pathlib import Path

EVERY = tuple(str(at) for at in range(len(TOOLS) + 1))


def _report(tool: str) -> ToolReport:
    """Return the report of a tool that works: its own bug, and nothing else."""
    bug = planted(tool)
    finding = Finding(bug.kind, "it is there", line=bug.lines[0])
    case = str(bug.case)
    return ToolReport(
        tool,
        "findings",
        findings=((case, (finding,)),),
        cleared=tuple(each for each in EVERY if each != case),
    )


REPORTS = {tool: _report(tool) for tool in TOOLS}


def _with(report: ToolReport) -> tuple[ToolReport, ...]:
    return tuple((REPORTS | {report.tool: report}).values())


def test_every_tool_has_a_planted_bug_with_a_line_and_a_kernel_of_its_own() -> None:
    """The kernel that is right has the case that is left."""
    bugs = [planted(tool) for tool in TOOLS]
    assert sorted([RIGHT, *(bug.case for bug in bugs)]) == [case.index for case in trial.cases()]
    assert all(bug.lines and bug.kind is KINDS[bug.tool] for bug in bugs)


def test_the_planted_bugs_are_there_and_the_kernel_without_one_is_right() -> None:
    """The emulator confirms it; it lets two branches have a barrier each, as devices since sm_70 do."""
    module = nvcc.compile_one(trial.source(), name=trial.NAME)
    names = dict(trial.entries())
    assert sorted(nvcc.entries(module)) == sorted(names.values())
    found = {
        case.index: run(
            module, names[str(case.index)], case.launch, case.arguments, detect=True, source=trial.NAME
        ).findings
        for case in trial.cases()
    }
    for tool in ("memcheck", "racecheck", "initcheck"):
        bug = planted(tool)
        assert [(finding.kind, finding.line) for finding in found[bug.case]] == [(bug.kind, bug.lines[0])]
    assert not found[RIGHT]


def test_tools_that_find_their_bugs_and_clear_the_right_kernel_are_trusted() -> None:
    """There is no message about them."""
    assert missed(tuple(REPORTS.values())) == ()


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_that_misses_its_bug_is_named_with_the_line(tool: str) -> None:
    """A clean report is the very thing that must not be believed."""
    (message,) = missed(_with(ToolReport(tool, "clean", cleared=EVERY)))
    line = " or ".join(map(str, planted(tool).lines))
    assert message == f"{tool} did not find the planted {KINDS[tool]} on line {line} of planted.cu"


@pytest.mark.parametrize("tool", TOOLS)
def test_the_right_kind_on_a_wrong_line_or_in_a_wrong_case_is_a_miss(tool: str) -> None:
    """So is another kind on the right line."""
    report = REPORTS[tool]
    ((case, (finding,)),) = report.findings
    other = next(kind for kind in FindingKind if kind is not finding.kind)
    for wrong in (replace(finding, line=1), replace(finding, line=None), replace(finding, kind=other)):
        assert missed(_with(replace(report, findings=((case, (wrong,)),))))
    assert missed(_with(replace(report, findings=(("9", (finding,)),))))


def test_either_of_the_two_barriers_may_be_reported() -> None:
    """It is the tool's choice."""
    first, second = planted("synccheck").lines
    report = REPORTS["synccheck"]
    ((case, (finding,)),) = report.findings
    assert finding.line == first
    assert missed(_with(replace(report, findings=((case, (replace(finding, line=second),)),)))) == ()


def test_a_tool_that_came_to_no_conclusion_is_named_with_its_reason() -> None:
    """Its reason is part of the sentence."""
    (message,) = missed(_with(ToolReport("initcheck", "inconclusive", "it left no XML")))
    assert message.endswith("of planted.cu: it left no XML")


def test_a_tool_that_was_not_run_is_missed_only_where_it_is_asked_for() -> None:
    """Two tools are not run where the emulator judges races."""
    two = (REPORTS["memcheck"], REPORTS["initcheck"])
    assert missed(two) == ("racecheck was not run", "synccheck was not run")
    assert missed(two, ("memcheck", "initcheck")) == ()


def test_a_tool_that_accuses_the_right_kernel_or_cannot_clear_it_is_not_trusted() -> None:
    """A tool that accuses every kernel would find every bug."""
    report = REPORTS["memcheck"]
    accused = (*report.findings, (str(RIGHT), (Finding(FindingKind.OUT_OF_BOUNDS, "writes out[3]"),)))
    (message,) = missed(_with(replace(report, findings=accused)))
    assert message == "memcheck accuses the kernel of planted.cu that has no bug: writes out[3]"
    (message,) = missed(_with(replace(report, cleared=(), doubts=((str(RIGHT), "it left out records"),))))
    assert message == "memcheck could not clear the kernel of planted.cu that has no bug: it left out records"


@pytest.mark.parametrize("file", sorted(CAPTURES.glob("planted-*")), ids=lambda file: file.name)
def test_a_capture_keeps_a_few_records_of_each_place(file: Path) -> None:
    """The summary of a log counts those that are there."""
    text = file.read_text("utf-8")
    assert shortened(text) == text
    assert shortened(text.replace("ERROR SUMMARY: ", "ERROR SUMMARY: 9")) == text


def test_what_the_tools_left_of_the_planted_bugs_on_a_device_is_understood() -> None:
    """The captures of an H200: each bug on its line, and the kernel that is right is cleared."""
    answered = answer(["done"] * len(trial.cases()))
    reports = []
    for tool in TOOLS:
        texts = {name: (CAPTURES / f"planted-{name}").read_text("utf-8") for name in files(tool)}
        xml, log = (texts[name] for name in files(tool))
        result = left(tool, xml, log, status=86, answered=answered)
        reports.append(read(tool, result, trial.cases(), trial.NAME))
    assert missed(tuple(reports)) == ()
