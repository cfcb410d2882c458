"""Trial of a GPU: it must run a kernel as it should, and the tools must report the bugs that we planted.

A driver that a tool does not know, a container that hides a library: then a tool ends well and reports
nothing, and every submission would pass. So a planted bug for each tool must come back as a finding before
any submission is graded.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.model import Argument, FindingKind, Launch
from grader.toolchain.gpu import devices, sanitizer
from grader.toolchain.gpu.answer import read_answer, read_array
from grader.toolchain.gpu.pool import stage_on
from grader.toolchain.gpu.request import ANSWER, DeviceCase, Image, Where, name_for, output_file, run_job
from grader.toolchain.gpu.sanitizer import KINDS, TOOLS
from grader.toolchain.nvcc import OWN_SOURCE, compile_own

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Named
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.gpu.pool import GpuPool
    from grader.toolchain.gpu.sanitizer import ToolReport
    from grader.toolchain.nvcc import Tools

NAME = "planted.cu"
"""Name of the planted bugs' file in findings."""

THREADS = 64
RIGHT = 0
"""The number of the case whose kernel has no bug."""

_ORDER = ("racecheck", "initcheck", "synccheck", "memcheck")
"""Tools whose bugs the next cases are; a launch that memcheck stops comes last, with all that it leaves."""

_MARK = re.compile(r"// planted: (\w+)$")


class Planted(NamedTuple):
    """A tool's bug: the number of its case, the finding to come of it, and the lines that may be named.

    Of two barriers that do not meet either may be the one that is reported.
    """

    tool: str
    case: int
    kind: FindingKind
    lines: tuple[int, ...]


@lru_cache(maxsize=1)
def source() -> str:
    """The planted bugs, to be compiled without optimisation and with lines, under any name."""
    return Path(__file__).with_name(NAME).read_text("utf-8")


def planted(tool: str) -> Planted:
    """The bug that ``tool`` must find."""
    marks = ((line, _MARK.search(text)) for line, text in enumerate(source().splitlines(), 1))
    lines = tuple(line for line, mark in marks if mark is not None and mark[1] == tool)
    return Planted(tool, RIGHT + 1 + _ORDER.index(tool), KINDS[tool], lines)


def cases() -> tuple[DeviceCase, ...]:
    """All launches, for every tool: the kernel that is right, then those with bugs.

    The ``out`` array is not written before the launch when the harness runs under a tool.
    """
    inputs = Argument("in", "in", np.arange(1, THREADS + 1, dtype=np.float32))
    outputs = Argument("out", "out", np.full(THREADS, np.nan, np.float32))
    launch = Launch((1, 1, 1), (THREADS, 1, 1))
    return tuple(DeviceCase(index, launch, (inputs, outputs)) for index in range(len(_ORDER) + 1))


def entries() -> Named[str]:
    """The kernel of each case, by its number, as `run_job` takes them."""
    return tuple((str(case.index), name_for(case.index)) for case in cases())


def missed(reports: tuple[ToolReport, ...], tools: Iterable[str] = TOOLS) -> tuple[str, ...]:
    """A sentence for each of ``tools`` that misses its bug, or accuses the kernel that is right."""
    by_tool = {report.tool: report for report in reports}
    return tuple(complaint for tool in tools if (complaint := _missed(planted(tool), by_tool.get(tool))))


def _missed(bug: Planted, report: ToolReport | None) -> str:
    if report is None:
        return f"{bug.tool} was not run"
    hits = [f for f in report.of(str(bug.case)) if f.kind is bug.kind and f.line in bug.lines]
    if not hits:
        why = f": {report.reason}" if report.reason else ""
        lines = " or ".join(map(str, bug.lines))
        return f"{bug.tool} did not find the planted {bug.kind} on line {lines} of {NAME}{why}"
    if report.of(str(RIGHT)):
        return f"{bug.tool} accuses the kernel of {NAME} that has no bug: {report.of(str(RIGHT))[0].message}"
    if report.doubt(str(RIGHT)):
        return f"{bug.tool} could not clear the kernel of {NAME} that has no bug: {report.doubt(str(RIGHT))}"
    return ""


def faults(pool: GpuPool, tools: Tools, gpu: Gpu) -> tuple[str, ...]:
    """Faults of a GPU or of the tools on it, a sentence each; none where all is as it should be.

    Raises OurError where the kernels cannot be built or the harness gives no answer.
    """
    cubin = compile_own(tools, source().encode(), gpu.architecture, optimised=False)
    with stage_on(gpu, tools) as inside:
        return _faults(pool, inside, gpu, cubin)


def _faults(pool: GpuPool, tools: Tools, gpu: Gpu, cubin: bytes) -> tuple[str, ...]:
    target = pool.where(gpu)
    images = (("student", Image(cubin, "")),)
    names = sanitizer.tools_for(pool.races) if pool.sanitizer else ()
    with ThreadPoolExecutor(1 + len(names)) as executor:
        running = executor.submit(_run, target, images, tools)
        reports = tuple(executor.map(lambda tool: _report(tool, pool, target, images, tools), names))
    return running.result() or missed(reports, names)


def _run(target: Where, images: tuple[tuple[str, Image], ...], tools: Tools) -> tuple[str, ...]:
    """The kernel without a bug, on its own: it reverses 64 numbers."""
    case = cases()[RIGHT]
    job = run_job(target, images, (case,), entries=entries())
    result = tools.sandbox.run(job)
    answer = read_answer(result.file(ANSWER))
    if answer.health != "ok" or answer.error or not answer.cases:
        return (f"the GPU does not run a simple kernel: {answer.error or answer.health}",)
    (case_answer,) = answer.cases
    if case_answer.state != "done":
        return (
            (
                "the GPU does not run a simple kernel: "
                f"{case_answer.state} {case_answer.error} {case_answer.message}"
            ),
        )
    inputs, poison = (np.asarray(argument.value) for argument in case.arguments)
    output = read_array(result, output_file(case.index, "out"), poison)
    right = np.array_equal(output, inputs[::-1])
    return () if right else ("the GPU ran a simple kernel and its result is wrong",)


def _report(
    tool: str, pool: GpuPool, target: Where, images: tuple[tuple[str, Image], ...], tools: Tools
) -> ToolReport:
    chosen = tuple(case for case in cases() if case.index in (planted(tool).case, RIGHT))
    job = run_job(
        target,
        images,
        chosen,
        mode="sanitize",
        entries=entries(),
        tool=sanitizer.command(tool, pool.sanitizer),
        tool_files=sanitizer.files(tool),
    )
    return sanitizer.read(tool, tools.sandbox.run(job), chosen, NAME, OWN_SOURCE)


def examine(pool: GpuPool, tools: Tools, *, tools_on_each: bool = False) -> tuple[GpuPool, tuple[str, ...]]:
    """The pool with the GPUs that passed, and what was wrong with the others.

    What makes a tool blind is the machine's: a driver that it does not know, a library that is hidden from
    it. So tools are tried on one GPU of each model, unless it is to be each GPU; the others run a kernel, and
    have the tools on trial only where that one failed. A GPU that was taken out of use and passes is taken
    back.
    """
    by_model = {(gpu.name, gpu.driver): gpu for gpu in reversed(pool.gpus)}
    first = {gpu: gpu if tools_on_each else by_model[gpu.name, gpu.driver] for gpu in pool.gpus}
    without_tools = replace(pool, sanitizer="")

    def of_all(gpu: Gpu) -> tuple[str, ...]:
        return faults(pool if first[gpu] == gpu else without_tools, tools, gpu)

    with ThreadPoolExecutor(max(1, len(pool.gpus))) as executor:
        by_gpu = dict(zip(pool.gpus, executor.map(of_all, pool.gpus), strict=True))
        doubtful = [gpu for gpu in pool.gpus if not by_gpu[gpu] and by_gpu[first[gpu]]]
        again = executor.map(lambda gpu: faults(pool, tools, gpu), doubtful)
        by_gpu |= dict(zip(doubtful, again, strict=True))
    fit, complaints = [], []
    for gpu, problems in by_gpu.items():
        if problems:
            complaints += [f"{gpu.name}: {problem}" for problem in problems]
        else:
            devices.mark_well(gpu)
            fit.append(gpu)
    return replace(pool, gpus=tuple(fit)), tuple(complaints)
