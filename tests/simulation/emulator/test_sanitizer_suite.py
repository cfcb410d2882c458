"""Running the labelled kernels under compute-sanitizer: reading its output, hangs, and the run itself."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.simulation.emulator import sanitizer_suite
from tests.simulation.emulator.labelled import Expected, kernels, sources
from tests.simulation.emulator.sanitizer_log import Report, reports
from tests.simulation.emulator.sanitizer_suite import Job, jobs, run_suite, watched
from tests.simulation.emulator.sanitizer_table import TOOLS, Outcome, Row, markdown

if TYPE_CHECKING:
    from pathlib import Path

RACES = """\
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at racy_reverse(float *)+0xf0 in exchange.cu:8
=========     and Read access at racy_reverse(float *)+0x180 in exchange.cu:9 [128 hazards]
=========
========= Warning: Race reported between Read access at racy_rotate+0x90 in exchange.cu:45
=========     and Write access at racy_rotate+0x90 in exchange.cu:46 [4 hazards]
=========     and Write access at racy_rotate+0xa0 in exchange.cu:44 [2 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""

OLDER_RACES = """\
========= WARN: Race reported between Read access at 0x00000170 in ./exchange.cu:4:racy_reverse(int*, int*)
========= and Write access at 0x00000148 in ./exchange.cu:3:racy_reverse(int*, int*) [4 hazards]
========= ERROR: Race reported between Write access at 0x00000148 in ./exchange.cu:7:racy_other(int*, int*)
=========     and Write access at 0x00000148 in ./exchange.cu:7:racy_other(int*, int*) [124 hazards]
"""

BARRIERS = """\
========= Barrier error detected. Divergent thread(s) in warp.
=========     at racy_in_if(float *)+0xa0 in barriers.cu:61
=========     by thread (19,0,0) in block (0,0,0)
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: main [0x1754] in clean_program
=========
========= Barrier error detected. Divergent thread(s) in warp.
=========     at racy_in_if(float *)+0xa0 in barriers.cu:61
=========     by thread (21,0,0) in block (0,0,0)
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at clean_copy(float *)+0x8a70 in barriers.cu:60
=========     by thread (16,0,0) in block (80,0,0)
=========     Address 0x7f615d40daf0
=========
========= Invalid __shared__ write of size 4 bytes
=========     at racy_padding(float *)+0x70 in barriers.cu:12
=========     by thread (1,0,0) in block (0,0,0)
=========
========= Program hit CUDA_ERROR_INVALID_VALUE (error 1) due to "invalid argument" on CUDA API call
=========     to cuGetProcAddress_v2.
=========
========= ERROR SUMMARY: 5 errors
"""


def test_a_race_names_the_kernel_the_severity_and_all_lines() -> None:
    """Analysis reports of racecheck: one write, and what it races with."""
    assert reports(RACES) == (
        Report("racy_reverse", "race", "error", (8, 9), 1),
        Report("racy_rotate", "race", "warning", (44, 45, 46), 1),
    )


def test_races_in_the_older_layout_are_read_too() -> None:
    """The kernel stands behind the line, and no empty line stands between records."""
    assert reports(OLDER_RACES) == (
        Report("racy_reverse", "race", "warn", (3, 4), 1),
        Report("racy_other", "race", "error", (7,), 1),
    )


def test_the_same_report_for_another_thread_is_counted() -> None:
    """Other tools report thread by thread; what names none of our kernels is left out."""
    assert reports(BARRIERS) == (
        Report("racy_in_if", "barrier", "divergent thread(s) in warp", (61,), 2),
        Report("clean_copy", "uninitialised", "__global__ memory read", (60,), 1),
        Report("racy_padding", "invalid", "__shared__ write", (12,), 1),
    )


TOOL = """#!{python}
import sys, time
arguments = sys.argv[sys.argv.index("tests.simulation.emulator.sanitizer_launch") + 1:]
for name in arguments[3:]:
    with open(arguments[2], "a") as progress:
        progress.write(f"begin {{name}}\\n")
        progress.flush()
        print(f"========= Error: Race reported between Write access at {{name}}+0xf0 in a.cu:8", flush=True)
        if name == "racy_endless":
            time.sleep(1000)
        if name == "racy_crash":
            progress.write(f"fault {{name}} launch failure\\n")
            sys.exit(1)
        progress.write(f"end {{name}}\\n")
"""


def test_kernels_after_one_that_hangs_or_fails_run_in_a_new_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is killed where nothing goes on, and what was reported until then is kept."""
    tool = tmp_path / "tool"
    tool.write_text(TOOL.format(python=sys.executable))
    tool.chmod(0o755)
    monkeypatch.setattr(sanitizer_suite, "sanitizer", lambda: str(tool))
    monkeypatch.setattr(sanitizer_suite, "HANG_SECONDS", 1)
    names = ("racy_a", "racy_crash", "racy_endless", "clean_b")
    outcomes = watched(Job("racecheck", tmp_path / "a.cubin", tmp_path / "a.cu", names, tmp_path))
    states = {name: outcome.state for name, outcome in outcomes.items()}
    assert states == {"racy_a": "ended", "racy_crash": "failed", "racy_endless": "hung", "clean_b": "ended"}
    assert all(len(outcome.reports) == 1 for outcome in outcomes.values())
    assert outcomes["racy_crash"].error == "launch failure"


def test_a_tool_that_does_not_start_leaves_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was launched, and the end of the log has the reason."""
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\necho device not supported\nexit 1\n")
    tool.chmod(0o755)
    monkeypatch.setattr(sanitizer_suite, "sanitizer", lambda: str(tool))
    outcomes = watched(Job("memcheck", tmp_path / "a.cubin", tmp_path / "a.cu", ("clean_b",), tmp_path))
    assert outcomes["clean_b"] == Outcome("not launched", [], "device not supported\n")


def test_kernels_that_may_hang_have_a_process_each(tmp_path: Path) -> None:
    """Every kernel of a file is in exactly one job of each tool."""
    source = sources()["named_barriers.cu"]
    planned = jobs("named_barriers.cu", tmp_path / "a.cubin", tmp_path)
    for tool in TOOLS:
        names = [job.names for job in planned if job.tool == tool]
        assert ("racy_two_places",) in names
        assert sorted(sum(names, ())) == sorted(set(sum(names, ())))
        assert len(sum(names, ())) == source.count("__global__")


def test_the_table_shows_where_emulator_and_tools_differ() -> None:
    """A racy kernel that only the emulator finds, and a clean one that a tool accuses."""
    race = Expected("race", "RAW", 9, 8, "row", "warning")
    quiet = {tool: Outcome("ended") for tool in TOOLS}
    accusing = Outcome("hung", [Report("clean_b", "race", "error", (8, 9), 3)])
    rows = [
        Row("a.cu", "racy_a", [race], [race], quiet),
        Row("a.cu", "clean_b", [], [], {**quiet, "racecheck": accusing}),
    ]
    text = markdown({"device": "GPU 0"}, rows)
    assert "no tool reports anything\n\n- a.cu: racy_a\n" in text
    assert "a tool reports something\n\n- a.cu: clean_b\n" in text
    assert "| racecheck | 0 of 1 | 1 of 1 |" in text
    assert "| a: racy_a | race RAW row 9←8 (warning) | as labelled | – | – | – | – |" in text
    assert "| a: clean_b | – | as labelled | race error 8, 9 ×3<br>**hung** | – | – | – |" in text


@pytest.mark.gpu
@pytest.mark.timeout(900)
def test_every_labelled_kernel_runs_under_every_tool(tmp_path: Path) -> None:
    """All are launched, only those marked so hang, none leaves its arrays, and both tables are written."""
    rows = run_suite(tmp_path)
    not_run = [
        (row.file, row.kernel) for row in rows for each in row.tools.values() if each.state == "not launched"
    ]
    assert not not_run
    hung = {row.kernel for row in rows if any(each.state == "hung" for each in row.tools.values())}
    assert hung <= {each.name for text in sources().values() for each in kernels(text) if each.hangs}
    assert not [row.kernel for row in rows if any(r.kind == "invalid" for r in row.tools["memcheck"].reports)]
    assert (tmp_path / "sanitizer.json").stat().st_size > 0
    assert (tmp_path / "sanitizer.md").stat().st_size > 0
