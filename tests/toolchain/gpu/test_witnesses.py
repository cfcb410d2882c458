"""Several witnesses of one launch: one finding each, whose word counts, and what none could rule out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from grader.model import Finding, FindingKind, Run, Severity
from grader.toolchain.gpu import RaceJudge
from grader.toolchain.gpu.sanitizer import KINDS, TOOLS, ToolReport
from grader.toolchain.gpu.witnesses import MergedFindings, merged

RACE = Finding(
    FindingKind.RACE,
    "in block (0, 0) thread (0, 0) reads row[63] on line 11, which thread (63, 0) writes on line 10: …",
    hazard="RAW",
    file="t.cu",
    line=11,
    other_line=10,
    block=(0, 0, 0),
    thread=(0, 0, 0),
    other_thread=(63, 0, 0),
    address="row[63]",
    repair="add `__syncthreads()` between lines 10 and 11",
)
REPORTED = Finding(
    FindingKind.RACE,
    "one thread reads a place in shared memory on line 11 that another writes on line 10",
    hazard="WAR",
    file="t.cu",
    line=10,
    other_line=11,
    address="shared",
    count=256,
)
OUTSIDE = Finding(
    FindingKind.OUT_OF_BOUNDS, "writes C[4096], 1 past its end", file="t.cu", line=7, address="C[4096]"
)
PARTING = Finding(FindingKind.BARRIER_DIVERGENCE, "divergent thread(s) in block", file="t.cu", line=20)
UNSET = Finding(
    FindingKind.UNINITIALISED, "reads C[0] before anything was written there", line=9, address="C[0]"
)
ZONE = Finding(FindingKind.OUT_OF_BOUNDS, "wrote beyond the elements of C", file="t.cu", address="C[4100]")
STOP = Finding(FindingKind.FAULT, "the GPU stopped the kernel: an illegal memory access", file="t.cu")


def _clean(*left_out: str) -> tuple[ToolReport, ...]:
    return tuple(ToolReport(tool, "clean", cleared=("0",)) for tool in TOOLS if tool not in left_out)


def _found(tool: str, *findings: Finding) -> tuple[ToolReport, ...]:
    return (*_clean(tool), ToolReport(tool, "findings", findings=(("0", findings),)))


def _doubtful(*tools: str) -> tuple[ToolReport, ...]:
    doubtful = (ToolReport(t, "inconclusive", "cut off", doubts=(("0", "cut off"),)) for t in tools)
    return (*_clean(*tools), *doubtful)


def _merged(
    *emulated: Finding,
    reports: tuple[ToolReport, ...] = (),
    device: tuple[Finding, ...] = (),
    mode: str = "both",
    **run: Any,  # noqa: ANN401 - a record's own
) -> MergedFindings:
    return merged(
        emulated=Run(findings=emulated, **run),
        emulator_error="",
        device=device,
        reports=reports or _clean(),
        index=0,
        mode=RaceJudge(mode),
    )


def _alone(
    reports: tuple[ToolReport, ...],
    device: tuple[Finding, ...] = (),
    mode: str = "both",
    error: str = "wgmma",
) -> MergedFindings:
    return merged(
        emulated=None, emulator_error=error, device=device, reports=reports, index=0, mode=RaceJudge(mode)
    )


def test_without_any_finding_everything_is_decided() -> None:
    """No finding, no open question."""
    assert _merged() == MergedFindings((), ())


def test_the_same_lines_in_either_order_are_one_finding_with_two_witnesses_and_the_richer_text() -> None:
    """Racecheck knows no threads, no element, and not which access came first."""
    (finding,) = _merged(RACE, reports=_found("racecheck", REPORTED)).findings
    assert finding == replace(RACE, witnesses=("emulator", "racecheck"))


def test_other_lines_or_another_kind_are_another_finding() -> None:
    """One shared line is not enough."""
    elsewhere = replace(REPORTED, other_line=12)
    found = _merged(RACE, OUTSIDE, reports=_found("racecheck", elsewhere)).findings
    assert [finding.witnesses for finding in found] == [("emulator",), ("emulator",), ("racecheck",)]
    assert [finding.severity for finding in found] == [Severity.ERROR, Severity.ERROR, Severity.INFO]


@pytest.mark.parametrize(("tool", "finding"), [("memcheck", OUTSIDE), ("initcheck", UNSET)])
def test_what_memcheck_or_initcheck_alone_saw_counts_in_full(tool: str, finding: Finding) -> None:
    """They saw the access itself."""
    (found,) = _merged(reports=_found(tool, finding)).findings
    assert found == replace(finding, witnesses=(tool,))


@pytest.mark.parametrize(("tool", "finding"), [("racecheck", REPORTED), ("synccheck", PARTING)])
def test_what_only_they_claim_of_a_launch_that_the_emulator_saw_costs_nothing(
    tool: str, finding: Finding
) -> None:
    """Both accuse kernels that are right; the message names the tool, and states that it costs nothing."""
    (found,) = _merged(reports=_found(tool, finding)).findings
    assert (found.severity, found.witnesses) == (Severity.INFO, (tool,))
    assert found.message.startswith(f"{tool} says: {finding.message}; it costs nothing, because the emulator")


@pytest.mark.parametrize(("tool", "finding"), [("racecheck", REPORTED), ("synccheck", PARTING)])
@pytest.mark.parametrize("run", [{"error": "budget"}, {"completed": False}])
def test_without_the_emulators_whole_view_their_word_counts(
    tool: str, finding: Finding, run: dict[str, Any]
) -> None:
    """A launch that it did not see to the end, or not at all."""
    assert _merged(reports=_found(tool, finding), **run).findings == (replace(finding, witnesses=(tool,)),)
    assert _alone(_found(tool, finding)).findings == (replace(finding, witnesses=(tool,)),)


def test_where_the_sanitizer_judges_races_the_emulators_are_left_out_and_its_own_count() -> None:
    """The emulator's other findings stay."""
    found = _merged(RACE, OUTSIDE, reports=_found("racecheck", REPORTED), mode="sanitizer").findings
    assert found == (replace(OUTSIDE, witnesses=("emulator",)), replace(REPORTED, witnesses=("racecheck",)))
    assert _merged(RACE, PARTING, mode="sanitizer").findings == ()


def test_where_the_emulator_judges_races_the_two_tools_are_not_heard() -> None:
    """Even if a report is there."""
    found = _merged(RACE, reports=_found("racecheck", REPORTED), mode="emulator").findings
    assert found == (replace(RACE, witnesses=("emulator",)),)
    assert _merged(reports=_found("synccheck", PARTING), mode="emulator") == MergedFindings((), ())


def test_a_red_zone_that_was_written_to_bears_out_who_knows_the_line() -> None:
    """The harness knows the array, and the emulator which line it was."""
    (found,) = _merged(OUTSIDE, device=(ZONE,)).findings
    assert found == replace(OUTSIDE, witnesses=("emulator", "gpu"))


def test_a_red_zone_of_another_array_is_a_finding_of_its_own() -> None:
    """Behind those that name a line."""
    other = replace(ZONE, address="A[-1]")
    found = _merged(OUTSIDE, device=(other,)).findings
    assert [(finding.address, finding.witnesses) for finding in found] == [
        ("C[4096]", ("emulator",)),
        ("A[-1]", ("gpu",)),
    ]


def test_a_stop_on_the_device_takes_its_line_from_memcheck() -> None:
    """One stop, two witnesses."""
    trap = Finding(FindingKind.FAULT, "stops the whole launch: trap", file="t.cu", line=26)
    (found,) = _alone(_found("memcheck", trap), device=(STOP,)).findings
    assert found == replace(trap, witnesses=("memcheck", "gpu"))


def test_a_stop_that_memcheck_cannot_explain_is_no_news_where_another_witness_can() -> None:
    """The access out of bounds is why."""
    trap = Finding(FindingKind.FAULT, "stops the whole launch: illegal address", file="t.cu", line=7)
    found = _merged(OUTSIDE, reports=_found("memcheck", trap)).findings
    assert found == (replace(OUTSIDE, witnesses=("emulator",)),)


def test_a_stop_without_a_line_is_explained_by_threads_that_do_not_come_together() -> None:
    """A mask that leaves out its own lane is an illegal instruction under memcheck, which names no line."""
    parted = Finding(FindingKind.BARRIER_DIVERGENCE, "the mask …", line=5, severity=Severity.ERROR)
    stop = Finding(FindingKind.FAULT, "stops the whole launch: Illegal instruction")
    assert _merged(parted, reports=_found("memcheck", stop)).findings == (
        replace(parted, witnesses=("emulator",)),
    )
    trap = replace(stop, line=9)
    assert {each.line for each in _merged(parted, reports=_found("memcheck", trap)).findings} == {5, 9}


def test_the_emulators_time_out_counts_only_where_the_device_hung_too() -> None:
    """Its budget is not the device's."""
    slow = Finding(FindingKind.TIMEOUT, "is still in the loop on line 5", line=5)
    hung = Finding(FindingKind.TIMEOUT, "the kernel did not end within 10 s")
    assert _merged(slow, completed=False).findings == ()
    (found,) = _merged(slow, device=(hung,), completed=False).findings
    assert found == replace(slow, witnesses=("emulator", "gpu"))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("mode", ["both", "sanitizer", "emulator"])
def test_a_question_is_open_where_the_emulator_could_not_and_the_tool_did_not(tool: str, mode: str) -> None:
    """The reason names both; with a word from either it is settled."""
    unheard = mode == "emulator" and tool in ("racecheck", "synccheck")
    undecided = dict(_alone(_doubtful(tool), mode=RaceJudge(mode)).undecided)
    expected = {KINDS[tool]} | (
        {FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE} if mode == "emulator" else set()
    )
    assert set(undecided) == expected
    reason = undecided[KINDS[tool]]
    assert reason.startswith("it could not be decided ")
    assert (f"{tool}: cut off" in reason) is not unheard
    assert ("emulator: wgmma" in reason) is not (mode == "sanitizer" and tool in ("racecheck", "synccheck"))


@pytest.mark.parametrize("mode", ["both", "emulator"])
def test_the_emulator_alone_settles_everything(mode: str) -> None:
    """Nothing is left undecided, even if the tools came to no conclusion."""
    assert _merged(reports=_doubtful(*TOOLS), mode=mode).undecided == ()
    empty = merged(emulated=Run(), emulator_error="", device=(), reports=(), index=0, mode=RaceJudge(mode))
    assert empty == MergedFindings((), ())


def test_the_tools_alone_settle_everything() -> None:
    """Nothing is left undecided, even if the emulator does not know an instruction."""
    assert _alone(_clean()) == MergedFindings((), ())


def test_where_only_the_sanitizer_counts_the_emulator_settles_no_race() -> None:
    """Its silence about races is not asked for."""
    undecided = dict(_merged(reports=_doubtful(*TOOLS), mode="sanitizer").undecided)
    assert set(undecided) == {FindingKind.RACE, FindingKind.BARRIER_DIVERGENCE}


def test_a_tool_that_was_not_run_settles_nothing() -> None:
    """There is no compute-sanitizer here."""
    undecided = dict(_alone(()).undecided)
    assert set(undecided) == set(KINDS.values())
    assert "racecheck: it was not run" in undecided[FindingKind.RACE]


def test_what_was_found_is_no_open_question_but_a_mere_claim_leaves_it_open() -> None:
    """A tool did see a race; none saw whether all barriers are met."""
    undecided = dict(_alone(_found("racecheck", REPORTED)[:2] + _found("racecheck", REPORTED)[-1:]).undecided)
    assert FindingKind.RACE not in undecided
    assert FindingKind.BARRIER_DIVERGENCE in undecided
    silent = replace(REPORTED, severity=Severity.INFO)
    doubtful = ToolReport("racecheck", "findings", findings=(("1", (silent,)),), doubts=(("0", "cut off"),))
    assert FindingKind.RACE in dict(_alone((*_clean("racecheck"), doubtful)).undecided)


def test_a_case_that_the_tools_were_not_given_is_settled_by_the_emulator_or_not_at_all() -> None:
    """The cases that the sanitizer was given stand for all where it alone judges races."""
    others = tuple(ToolReport(tool, "clean", cleared=("1",)) for tool in TOOLS)
    assert _merged(reports=others).undecided == ()
    undecided = dict(_alone(others).undecided)
    assert "racecheck: it was not run on this case" in undecided[FindingKind.RACE]
    assert _merged(reports=others, mode="sanitizer").undecided == ()
    failed = tuple(ToolReport(t, "inconclusive", "cut off", doubts=(("1", "cut off"),)) for t in TOOLS)
    assert FindingKind.RACE in dict(_merged(reports=failed, mode="sanitizer").undecided)
