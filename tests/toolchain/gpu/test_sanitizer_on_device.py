"""On a device: the tools find what was planted, and what their files look like is kept.

``--update-golden`` writes the files of each tool, scrubbed, to ``captures/planted-TOOL`` and ``more-TOOL``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.toolchain.gpu import trial
from grader.toolchain.gpu.devices import find_gpus
from grader.toolchain.gpu.request import Image, Where, helpers_source, name_for, run_job
from grader.toolchain.gpu.sanitizer import KINDS, TOOLS, command, files, find_sanitizer, read
from grader.toolchain.nvcc.source import SOURCE_NAME
from grader.toolchain.sandbox import LocalSandbox
from tests.simulation.emulator import nvcc
from tests.toolchain.gpu.captured import CAPTURES, shortened

if TYPE_CHECKING:
    from grader.toolchain.gpu.sanitizer import ToolReport

MORE = Path(__file__).with_name("planted.cu").read_text()


def _cubin(source: str, folder: Path, architecture: str, *options: str) -> bytes:
    """Device code with lines and without optimisation, as submissions are built for the tools."""
    text, cubin = folder / "kernels.ptx", folder / "kernels.cubin"
    text.write_text(nvcc.ptx(source, options, SOURCE_NAME))
    ptxas = Path(nvcc.compiler()).with_name("ptxas")
    subprocess.run(
        [ptxas, f"-arch={architecture}", "-O0", "-lineinfo", text, "-o", cubin],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return cubin.read_bytes()


def _reports(source: str, count: int, folder: Path, kept: str) -> tuple[ToolReport, ...]:
    """Return every tool's report on the first ``count`` kernels; their files go to the captures ``kept``."""
    gpu, program = find_gpus()[0], find_sanitizer()
    assert program is not None
    cubin = _cubin(source, folder, gpu.architecture, *nvcc.HAZARDS)
    where = Where(sys.executable, _cubin(helpers_source().decode(), folder, gpu.architecture), gpu.uuid)
    cases = trial.cases()[:count]
    images = (("student", Image(cubin, name_for(0))),)
    entries = tuple((str(case.index), name_for(case.index)) for case in cases)
    reports = []
    for tool in TOOLS:
        words = command(tool, str(program))
        job = run_job(
            where, images, cases, mode="sanitize", entries=entries, tool=words, tool_files=files(tool)
        )
        result = LocalSandbox().run(job)
        for name in files(tool) if kept else ():
            content = (result.file(name) or b"").decode()
            (CAPTURES / f"{kept}-{name}").write_text(shortened(_scrubbed(content)))
        reports.append(read(tool, result, cases, trial.NAME))
    return tuple(reports)


def _scrubbed(text: str) -> str:
    """Without the folders and addresses of this machine."""
    text = re.sub(rf"[^\s<>]*/{SOURCE_NAME}", f"/build/{SOURCE_NAME}", text)
    return re.sub(r"0x7[0-9a-f]{11}", lambda found: f"0x7f0000{found[0][8:]}", text)


@pytest.mark.gpu
@pytest.mark.timeout(300)
def test_every_tool_finds_its_planted_bug_and_clears_the_kernel_that_is_right(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A batch begins with this trial."""
    kept = "planted" if request.config.getoption("--update-golden") else ""
    reports = _reports(trial.source(), len(trial.cases()), tmp_path, kept)
    assert trial.missed(reports) == ()


@pytest.mark.gpu
@pytest.mark.timeout(300)
def test_records_of_more_mistakes_are_understood_and_name_a_marked_line(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Each tool blames the kernels with its marks, on those lines, and no other kernel."""
    kept = "more" if request.config.getoption("--update-golden") else ""
    reports = {report.tool: report for report in _reports(MORE, 4, tmp_path, kept)}
    marked = {
        tool: [at for at, line in enumerate(MORE.splitlines(), 1) if f"@{tool}" in line] for tool in KINDS
    }
    for tool, case in (("synccheck", "0"), ("racecheck", "1"), ("initcheck", "2"), ("memcheck", "3")):
        report = reports[tool]
        assert [name for name, _ in report.findings] == [case], (tool, report)
        assert {finding.line for finding in report.of(case)} <= set(marked[tool]), (tool, report)
