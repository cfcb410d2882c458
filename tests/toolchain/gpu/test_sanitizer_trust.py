"""compute-sanitizer: when its silence is believed, and what it may not do to us."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.model import FindingKind
from grader.toolchain.gpu.sanitizer import read
from grader.toolchain.sandbox import Status
from tests.toolchain.gpu.captured import EMPTY, access, answer, device_cases, document, left, log

if TYPE_CHECKING:
    from grader.model import Finding
    from grader.toolchain.gpu.sanitizer import ToolReport
    from grader.toolchain.sandbox import Result


def _only(report: ToolReport) -> Finding:
    (finding,) = report.of("0")
    return finding


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (left("memcheck", status=86), "exit status 86, but its XML holds 0 records"),
        (left("memcheck", status=1), "ended with the exit status 1"),
        (left("memcheck", status=Status.TIME), "took too long"),
        (left("memcheck", status=Status.SIGNAL), "was killed"),
        (left("memcheck", xml=None), "left no XML"),
        (left("memcheck", log_text=""), "left no log"),
        (left("memcheck", log_text="========= COMPUTE-SANITIZER\n"), "has no summary"),
        (
            left("memcheck", log_text="========= Error: Target application terminated\n", status=255),
            "no summary: Error: Target application terminated",
        ),
        (left("memcheck", log_text=log(2)), "summary counts 2, but its XML holds 0 records"),
        (left("memcheck", log_text=log(2), status=86), "summary counts 2, but its XML holds 0 records"),
        (left("memcheck", document(access())), "summary counts 0, but its XML holds 1 records"),
        (left("memcheck", document(access()), log(1)), "exit status 0, but its XML holds 1 records"),
        (left("memcheck", document(access()), status=86), "summary counts 0, but its XML holds 1 records"),
        (
            left("memcheck", log_text=log(0, "Internal Sanitizer Error: The Sanitizer encountered an error")),
            "more than a summary: Internal Sanitizer Error",
        ),
        (
            left("memcheck", document("<record><kind>Novel</kind></record>"), log(1), status=86),
            "nothing of a kernel that we understand",
        ),
        (
            left("memcheck", document("<record><kind>Api</kind></record>"), log(1), status=86),
            "nothing of a kernel that we understand",
        ),
        (left("memcheck", EMPTY[:40]), "cut off or broken"),
        (left("memcheck", document(access())[:-30], log(1), status=86), "cut off or broken"),
        (left("memcheck", "<ok/>"), "not a ComputeSanitizerOutput"),
        (left("memcheck", answered=b"{"), "answer cannot be read"),
        (left("memcheck", answered=answer(("fault",))), "did not come to its end (fault)"),
        (left("memcheck", answered=answer(("timeout",))), "did not come to its end (timeout)"),
        (left("memcheck", answered=answer(())), "was not launched"),
        (left("memcheck", answered=answer((), error="no CuPy")), "was not launched: no CuPy"),
    ],
)
def test_what_does_not_fit_together_is_inconclusive_with_a_reason(result: Result, reason: str) -> None:
    """Never clean, and never a finding."""
    report = read("memcheck", result, device_cases(), "t.cu")
    assert (report.verdict, report.findings, report.cleared) == ("inconclusive", (), ())
    assert reason in report.reason
    assert reason in report.doubt("0")
    assert report.outcome == report.reason


def test_no_case_at_all_is_not_clean() -> None:
    """Nothing was looked at."""
    assert read("memcheck", left("memcheck"), (), "t.cu").verdict == "inconclusive"


def test_one_case_that_did_not_end_leaves_the_others_cleared() -> None:
    """A doubt is about a case."""
    result = left("racecheck", answered=answer(("done", "fault", "done")))
    report = read("racecheck", result, device_cases(3), "t.cu")
    assert report.verdict == "inconclusive"
    assert report.cleared == ("0", "2")
    assert report.doubt("0") == ""
    assert "fault" in report.doubt("1")
    assert "not run" in report.doubt("3")


@pytest.mark.parametrize(
    ("records", "log_text", "reason"),
    [
        ([access()], log(1000, "ERROR SUMMARY: 24 errors were not printed. Use --print-limit"), "left out"),
        ([access()], log(1, "7 errors were skipped (error buffer overflow)."), "left out"),
        ([access()] * 1000, log(1000), "left out records after the first 1000"),
        ([access()], log(3), "summary counts 3, but its XML holds 1 records"),
        ([access(), "<record><kind>Novel</kind></record>"], log(2), "do not understand (Novel)"),
        ([access(), "<record><kind>Sanitizer</kind></record>"], log(2), "it dropped records"),
    ],
)
def test_where_records_are_missing_findings_count_but_silence_does_not(
    records: list[str], log_text: str, reason: str
) -> None:
    """The first case filled the list; what the second did is not known."""
    result = left("memcheck", document(*records), log_text, status=86, answered=answer(("done", "done")))
    report = read("memcheck", result, device_cases(2), "t.cu")
    assert (report.verdict, report.cleared) == ("findings", ())
    assert report.doubt("0") == ""
    assert reason in report.doubt("1")


def test_a_summary_in_a_files_name_does_not_count() -> None:
    """`#line` can name any file; the tool's own summary is the last one."""
    forged = "    at grader_case_0 in x\n========= ERROR SUMMARY: 0 errors\n========= y"
    report = read(
        "memcheck", left("memcheck", document(access()), log(1, forged), status=86), device_cases(), "t"
    )
    assert report.verdict == "findings"


LAUGHS = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<ComputeSanitizerOutput><record>&c;</record></ComputeSanitizerOutput>"""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (LAUGHS.encode(), "declarations"),
        (b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><ComputeSanitizerOutput/>', "declarations"),
        (LAUGHS.encode("utf-16"), "broken"),
        (b"<ComputeSanitizerOutput>&undefined;</ComputeSanitizerOutput>", "broken"),
        (b" " * (8 * 2**20 + 1), "8388609 bytes"),
        (b"<record>" * 100_000, "cut off or broken"),
        (b"<x>" * 100_000 + b"</x>" * 100_000, "not a ComputeSanitizerOutput"),
        (b"", "cut off or broken"),
        (b"\xff\xfe\x00", "broken"),
    ],
)
def test_xml_that_no_tool_writes_is_refused(content: bytes, reason: str) -> None:
    """No entity is ever expanded, nothing is read without end."""
    report = read("memcheck", left("memcheck", content), device_cases(), "t.cu")
    assert report.verdict == "inconclusive"
    assert reason in report.reason


def test_very_many_records_are_read_once() -> None:
    """A hundred thousand become one finding, or one doubt."""
    many = "<record><kind>Novel</kind></record>\n" * 100_000
    result = left("memcheck", document(access(), many), log(100_001), status=86)
    report = read("memcheck", result, device_cases(), "t.cu")
    assert _only(report).count == 1


def test_deep_nesting_inside_a_record_is_survived() -> None:
    """Nothing here calls itself for each level."""
    deep = "<x>" * 100_000 + "</x>" * 100_000
    record = access().replace("</record>", f"{deep}</record>")
    report = read("memcheck", left("memcheck", document(record), log(1), status=86), device_cases(), "t.cu")
    assert report.verdict == "findings"


@pytest.mark.parametrize(
    "record",
    [
        access(function="grader_case_0\x1b[31m\x00\x08"),
        access().replace("<line>3</line>", "<line>9" + "9" * 5000 + "</line>"),
        access().replace("<line>3</line>", "<line>-3</line>"),
        access().replace("<address>", "<address>x"),
        access().replace("<x>0</x>", "<x></x>"),
        access().replace("__global__", "\u202eno space"),
        access().replace("<level>Error</level>", "<level>Novel</level>"),
        "<record><kind>Precise</kind></record>",
        "<record><kind>Precise</kind><what><what/></what></record>",
    ],
)
def test_strange_values_in_a_record_still_give_a_finding(record: str) -> None:
    """Values that cannot be read are left out; the message holds nothing that a terminal would obey."""
    report = read("memcheck", left("memcheck", document(record), log(1), status=86), device_cases(), "t.cu")
    finding = _only(report)
    assert finding.kind is FindingKind.OUT_OF_BOUNDS
    assert finding.message.isprintable()
    assert finding.line in (3, None)


def test_a_tools_words_are_made_harmless_before_they_are_shown() -> None:
    """They come out of a process in which a student's kernel ran."""
    record = (
        access()
        .replace("Precise", "Synccheck")
        .replace("<space>", "<text>Odd\u202e\x9b2J /home/x/y</text><space>")
    )
    result = left("synccheck", document(record), log(1), status=86)
    finding = _only(read("synccheck", result, device_cases(), "t.cu"))
    assert finding.message.isprintable()
    assert "/home" not in finding.message
