"""Examination of GPUs: which are there, which parts fit together, and a trial of each."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from grader.authoring.doctor import Mark, ReportLine
from grader.base.errors import GraderError
from grader.base.text import one_line
from grader.toolchain.gpu import devices
from grader.toolchain.gpu.sanitizer import HOW_TO_GET, find_sanitizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.nvcc import Tools

_CONTAINER_TOOLKIT = (1, 17, 8)
"""The first NVIDIA Container Toolkit without the container escape CVE-2025-23266 (NVIDIA security bulletin,
July 2025); older ones have CVE-2024-0132 as well."""


def examine(tools: Tools) -> Iterator[ReportLine]:
    """A line for each thing that grading on a GPU needs; nothing but one line where there is no GPU."""
    missing = devices.missing_libraries()
    if "nvidia-ml-py" in missing:
        state = "not looked for: the package nvidia-ml-py is not installed"
        yield ReportLine(Mark.UNKNOWN, "gpu", state, devices.HOW_TO_GET_CUPY)
        return
    gpus = devices.visible(devices.find_gpus())
    if not gpus:
        yield ReportLine(Mark.NONE, "gpu", "none found; the emulator grades everything but speed")
        return
    yield from map(_about, gpus)
    yield from _container_toolkit()
    if missing:
        yield ReportLine(Mark.PROBLEM, "cupy", "not installed", devices.HOW_TO_GET_CUPY, needed=False)
        return
    sanitizer = find_sanitizer()
    if sanitizer is None:
        yield ReportLine(Mark.PROBLEM, "sanitizer", "not installed", HOW_TO_GET, needed=False)
    else:
        yield _about_sanitizer(str(sanitizer))
    fit = tuple(gpu for gpu in gpus if not devices.unfit(gpu))
    if fit:
        yield from trials(tools, fit)


def _about(gpu: Gpu) -> ReportLine:
    """Description of a GPU; its trial shows whether it works."""
    described, sick = _described(gpu), devices.is_sick(gpu)
    if devices.unfit(gpu):
        return ReportLine(
            Mark.PROBLEM, "gpu", f"{described}: cannot be used", devices.unfit(gpu), needed=False
        )
    if sick:
        return ReportLine(Mark.UNKNOWN, "gpu", f"{described}; out of use until a trial ends well: {sick}")
    return ReportLine(Mark.OK, "gpu", described)


def _described(gpu: Gpu) -> str:
    major, minor = gpu.capability
    cuda = ".".join(map(str, gpu.driver_cuda))
    memory = gpu.memory_bytes // 2**30
    return f"{gpu.name}, {memory} GiB, compute capability {major}.{minor}, driver {gpu.driver} (CUDA {cuda})"


def _container_toolkit() -> Iterator[ReportLine]:
    """The version of NVIDIA's container toolkit, where it is installed: old ones let containers escape."""
    program = shutil.which("nvidia-ctk")
    if program is None:
        return
    output = _output_of([program, "--version"])
    version = re.search(r"(\d+)\.(\d+)\.(\d+)", output)
    if version is None:
        yield ReportLine(Mark.PROBLEM, "containers", "nvidia-ctk does not say its version", needed=False)
    elif tuple(map(int, version.groups())) < _CONTAINER_TOOLKIT:
        warning = f"NVIDIA Container Toolkit {version[0]} lets a container escape (CVE-2025-23266)"
        fix = f"update it to {'.'.join(map(str, _CONTAINER_TOOLKIT))} or newer before you use it"
        yield ReportLine(Mark.PROBLEM, "containers", warning, fix, needed=False)
    else:
        yield ReportLine(Mark.OK, "containers", f"NVIDIA Container Toolkit {version[0]}")


def _about_sanitizer(program: str) -> ReportLine:
    output = _output_of([program, "--version"])
    match = re.search(r"Version ([\d.]+)", output)
    if match is None:
        state = f"{program} does not say its version, but: {one_line(output, 200) or 'nothing'}"
        return ReportLine(Mark.PROBLEM, "sanitizer", state, HOW_TO_GET, needed=False)
    return ReportLine(Mark.OK, "sanitizer", f"compute-sanitizer {match[1]} at {program}")


def _output_of(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.SubprocessError) as problem:
        return str(problem)
    return done.stdout + done.stderr


def trials(tools: Tools, gpus: tuple[Gpu, ...]) -> Iterator[ReportLine]:
    """Each GPU runs a kernel, and each tool has to find its planted bug on it."""
    from grader.toolchain.gpu import RaceJudge, pool, trial  # noqa: PLC0415 - where there is no GPU they are not needed

    try:
        prepared = pool.prepare(tools, gpus, RaceJudge.BOTH)
        fit, problems = trial.examine(prepared, tools, tools_on_each=True)
    except GraderError as problem:
        yield ReportLine(Mark.PROBLEM, "gpu trial", "does not work", str(problem), needed=False)
        return
    for complaint in problems:
        yield ReportLine(Mark.PROBLEM, "gpu trial", complaint, needed=False)
    for gpu in fit.gpus:
        tried = "every tool found its planted bug" if prepared.sanitizer else "no tool was tried"
        yield ReportLine(Mark.OK, "gpu trial", f"{gpu.name} ran a kernel; {tried}")
