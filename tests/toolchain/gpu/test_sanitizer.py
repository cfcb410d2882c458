"""compute-sanitizer: its records as findings."""

from __future__ import annotations

import pytest

from grader.model import Finding, FindingKind, Severity
from grader.toolchain.gpu.sanitizer import ToolReport, read
from tests.toolchain.gpu.captured import ADDRESS, access, answer, capture, device_cases, document, left, log

WARNING = (
    "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n"
)


def _captured(name: str, state: str = "done") -> ToolReport:
    tool, result = capture(name, state)
    return read(tool, result, device_cases(), "tiled.cu")


def _only(report: ToolReport) -> Finding:
    (finding,) = report.of("0")
    return finding


@pytest.mark.parametrize(
    ("name", "kind", "line", "address", "message"),
    [
        (
            "memcheck-outside_write",
            FindingKind.OUT_OF_BOUNDS,
            3,
            "a[40]",
            "writes a[40], 1 past its end: a has 40 elements",
        ),
        (
            "memcheck-outside_read",
            FindingKind.OUT_OF_BOUNDS,
            4,
            "b[40]",
            "reads b[40], 1 past its end: b has 40 elements",
        ),
        (
            "memcheck-outside_far",
            FindingKind.OUT_OF_BOUNDS,
            6,
            "",
            "reads an address that belongs to no array",
        ),
        (
            "memcheck-outside_shared",
            FindingKind.OUT_OF_BOUNDS,
            5,
            "shared",
            "writes shared memory outside what the block has of it",
        ),
        (
            "memcheck-misaligned",
            FindingKind.MISALIGNED,
            7,
            "",
            "writes 4 bytes at an address in global memory that is not a multiple of 4",
        ),
        (
            "memcheck-null_write",
            FindingKind.OUT_OF_BOUNDS,
            8,
            "",
            "writes address 0x0, which belongs to no array: a null pointer",
        ),
        (
            "initcheck-unset_global",
            FindingKind.UNINITIALISED,
            21,
            "a[0]",
            "reads a[0] before anything was written there",
        ),
    ],
)
def test_an_access_becomes_a_finding_with_its_line_its_element_and_its_first_thread(
    name: str, kind: FindingKind, line: int, address: str, message: str
) -> None:
    """Records of the same kind on the same line are one finding, with how many they were."""
    finding = _only(_captured(name))
    assert (finding.kind, finding.line, finding.address, finding.message) == (kind, line, address, message)
    assert (finding.file, finding.block, finding.count, finding.severity) == (
        "tiled.cu",
        (0, 0, 0),
        3,
        Severity.ERROR,
    )
    assert finding.thread == ((40, 0, 0) if "40" in address else (0, 0, 0))


@pytest.mark.parametrize(
    ("name", "hazard", "line", "other", "count"),
    [
        ("race_raw", "RAW", 11, 10, 256),
        ("race_war", "WAR", 14, 13, 256),
        ("race_waw", "WAW", 16, 16, 33),
        ("race_in_function", "WAR", 17, 20, 256),
    ],
)
def test_a_race_has_both_lines_its_hazard_and_a_count(
    name: str, hazard: str, line: int, other: int, count: int
) -> None:
    """Of racecheck's two accesses the second is reported first, as everywhere."""
    finding = _only(_captured(f"racecheck-{name}"))
    assert (finding.kind, finding.hazard, finding.line, finding.other_line, finding.count) == (
        FindingKind.RACE,
        hazard,
        line,
        other,
        count,
    )
    assert "on line" in finding.message
    assert finding.message.endswith("and nothing orders the two")


def test_a_trap_is_reported_with_its_line_if_the_kernel_did_stop() -> None:
    """An imprecise record explains a launch that failed; for one that did not, it is inconclusive."""
    finding = _only(_captured("memcheck-trap", "fault"))
    assert (finding.kind, finding.line, finding.thread) == (FindingKind.FAULT, 26, (5, 0, 0))
    assert finding.message == "stops the whole launch: Trace/breakpoint trap"
    assert _captured("memcheck-trap", "done").verdict == "inconclusive"


def test_a_barrier_that_threads_part_at_has_its_line() -> None:
    """Synccheck's own words, and what to do."""
    record = (
        access(line=81)
        .replace("Precise", "Synccheck")
        .replace("<space>", "<text>Barrier error detected. Divergent thread(s) in block.</text><space>")
    )
    report = read("synccheck", left("synccheck", document(record), log(1), status=86), device_cases(), "t.cu")
    finding = _only(report)
    assert (finding.kind, finding.line) == (FindingKind.BARRIER_DIVERGENCE, 81)
    assert finding.message == (
        "divergent thread(s) in block: every thread of a block must come to the same `__syncthreads()`"
    )


def test_one_access_that_races_with_several_gives_a_finding_for_each() -> None:
    """Racecheck lists them under one source."""
    where = "<where><func>grader_case_0</func><path>/build/student_source.cu</path><line>{}</line></where>"
    ends = "".join(
        f"<destination><direction>Write</direction>{where.format(line)}</destination>" for line in (46, 44)
    )
    source = f"<source><direction>Read</direction>{where.format(45)}</source>"
    record = f"<record><kind>Analysis</kind><level>Warning</level><what>{source}{ends}</what></record>"
    report = read("racecheck", left("racecheck", document(record), WARNING), device_cases(), "t.cu")
    assert [(f.line, f.other_line, f.severity) for f in report.of("0")] == [
        (46, 45, Severity.WARNING),
        (44, 45, Severity.WARNING),
    ]
    assert report.verdict == "findings"


@pytest.mark.parametrize("name", ["memcheck-clean", "racecheck-clean", "synccheck-exited_not_seen"])
def test_a_kernel_without_records_is_clean(name: str) -> None:
    """Exit status, summary, XML and harness all agree."""
    report = _captured(name)
    assert (report.verdict, report.cleared, report.reason, report.outcome) == ("clean", ("0",), "", "ok")
    assert report.doubt("0") == ""


@pytest.mark.parametrize(
    ("function", "cases"),
    [
        ("grader_case_1", ["1"]),
        ("grader_case_1(float *, int)", ["1"]),
        ("$grader_case_1$_Z6helperf", ["1"]),
        ("$grader_case_1$grader_case_0", ["1"]),
        ("grader_case_11", ["11"]),
        ("$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath", [str(at) for at in range(12)]),
        ("grader_case_99", [str(at) for at in range(12)]),
        ("", [str(at) for at in range(12)]),
    ],
)
def test_a_record_belongs_to_the_case_whose_kernel_its_function_names(
    function: str, cases: list[str]
) -> None:
    """A device function carries its kernel's name; what names none belongs to every case that ran."""
    result = left("memcheck", document(access(function)), log(1), status=86, answered=answer(["done"] * 12))
    report = read("memcheck", result, device_cases(12), "t.cu")
    assert [name for name, _ in report.findings] == cases
    assert report.cleared == tuple(str(at) for at in range(12) if str(at) not in cases)


def test_lines_of_other_files_are_not_reported() -> None:
    """A header of the toolkit has lines, too."""
    record = access().replace("student_source.cu", "cooperative_groups.h")
    report = read("memcheck", left("memcheck", document(record), log(1), status=86), device_cases(), "t.cu")
    assert _only(report).line is None


def test_the_first_thread_is_the_same_whatever_the_order_of_records() -> None:
    """The device's scheduler decides about the order."""
    records = [access(thread=at, address=ADDRESS + 4 * at) for at in (42, 40, 41)]
    result = left("memcheck", document(*records), log(3), status=86)
    finding = _only(read("memcheck", result, device_cases(), "t.cu"))
    assert (finding.thread, finding.address, finding.count) == ((40, 0, 0), "a[40]", 3)


def test_an_element_before_an_array_and_the_shape_of_a_matrix_are_spelt_out() -> None:
    """As the emulator does it: flat outside, with the extents."""
    result = left("memcheck", document(access(address=ADDRESS - 8)), log(1), status=86)
    finding = _only(read("memcheck", result, device_cases(shape=(8, 5)), "t.cu"))
    assert finding.message == "writes a[-2], 2 before its start: a has 8 x 5 elements"
    unset = access(address=ADDRESS + 4 * 13).replace("Precise", "Initcheck")
    result = left("initcheck", document(unset), log(1), status=86)
    assert _only(read("initcheck", result, device_cases(shape=(8, 5)), "t.cu")).address == "a[2][3]"
