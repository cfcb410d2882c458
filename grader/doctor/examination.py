"""The whole examination, and what follows from it."""

from __future__ import annotations

import platform
import tempfile
from typing import TYPE_CHECKING

from grader import sandbox_choice
from grader.doctor import containers
from grader.doctor.planted import find_planted_race
from grader.doctor.report_line import Mark, ReportLine
from grader.errors import GraderError, OurError
from grader.nvcc import HOW_TO_GET_NVDISASM, find_toolchain
from grader.sandbox import LocalSandbox

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from grader.nvcc import Toolchain

_TRIAL = "gpu trial"


def examine(nvcc: str | None, builds: Path | None) -> Iterator[ReportLine]:
    """A line for each thing that was tried; ``builds`` is where builds are kept, None where they are not."""
    system = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield ReportLine(Mark.OK, "python", system)
    try:
        toolchain = find_toolchain(nvcc)
    except OurError as problem:
        yield ReportLine(Mark.PROBLEM, "compiler", "no working nvcc", str(problem))
        return
    yield ReportLine(Mark.OK, "compiler", f"nvcc {toolchain.version} at {toolchain.nvcc}")
    yield _disassembler(toolchain)
    yield _tried("emulator", lambda: _planted_race(toolchain))
    if builds is not None:
        yield _tried("cache", lambda: _cache(builds))
    else:
        yield ReportLine(Mark.UNKNOWN, "cache", "not looked for: no build is kept with --no-cache")
    yield from containers.examine()
    yield containers.about_bubblewrap()
    yield from _gpus(nvcc, builds)


def _disassembler(toolchain: Toolchain) -> ReportLine:
    """Whether there is what an estimate of speed reads machine code with; all else goes without it."""
    if toolchain.nvdisasm:
        return ReportLine(Mark.OK, "estimate", f"nvdisasm at {toolchain.nvdisasm}")
    state = "no nvdisasm: speed is not estimated, and all else goes without it"
    return ReportLine(Mark.NONE, "estimate", state, HOW_TO_GET_NVDISASM)


def can_grade(lines: Iterable[ReportLine]) -> bool:
    """Whether nothing is missing that grading needs."""
    return not any(line.stops for line in lines)


def uses_gpu(lines: Iterable[ReportLine]) -> bool:
    """Whether a GPU was tried and all is well with it: containers and their images are another matter."""
    others = [line for line in lines if line.subject not in containers.SUBJECTS]
    tried = any(line.subject == _TRIAL and line.mark is Mark.OK for line in others)
    return tried and not any(line.mark is Mark.PROBLEM for line in others)


def _gpus(nvcc: str | None, cache: Path | None) -> Iterator[ReportLine]:
    """What there is to say about GPUs; a driver that does not answer is no reason to stop."""
    from grader.doctor import gpus  # noqa: PLC0415 - needs the compiler, which may not be there
    from grader.gpu import devices  # noqa: PLC0415

    try:
        usable = () if devices.missing_libraries() else devices.visible(devices.find_gpus())
        yield from gpus.examine(
            sandbox_choice.tools_for(usable, sandbox_choice.LOCAL, nvcc, cache, strangers=False)
        )
    except GraderError as problem:
        yield ReportLine(Mark.PROBLEM, "gpu", "does not work", str(problem), needed=False)


def _tried(what: str, attempt: Callable[[], str]) -> ReportLine:
    try:
        return ReportLine(Mark.OK, what, attempt())
    except (GraderError, OSError) as problem:
        return ReportLine(Mark.PROBLEM, what, "does not work", str(problem))


def _planted_race(toolchain: Toolchain) -> str:
    find_planted_race(toolchain, LocalSandbox())
    return "compiled a kernel, ran it and found its planted race"


def _cache(builds: Path) -> str:
    builds.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=builds):
        return f"builds are kept in {builds}"
