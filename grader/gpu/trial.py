"""A GPU on trial: does it run a kernel as it should, and do the tools find the bugs that we planted?

Nobody is graded by the silence of a tool that cannot see.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.gpu import devices, sanitizer, selftest
from grader.gpu.answer import read_answer, read_array
from grader.gpu.pool import stage_on
from grader.gpu.request import ANSWER, Image, Where, output_file, run_job
from grader.nvcc import OWN_SOURCE, compile_own

if TYPE_CHECKING:
    from grader.gpu.devices import Gpu
    from grader.gpu.pool import GpuPool
    from grader.gpu.sanitizer import ToolReport
    from grader.nvcc import Tools


def faults(pool: GpuPool, tools: Tools, gpu: Gpu) -> tuple[str, ...]:
    """What is wrong with a GPU or with the tools on it, a sentence each; none where all is as it should be.

    Raises OurError where the kernels cannot be built or the harness gives no answer.
    """
    cubin = compile_own(tools, selftest.source().encode(), gpu.architecture, optimised=False)
    with stage_on(gpu, tools) as inside:
        return _faults(pool, inside, gpu, cubin)


def _faults(pool: GpuPool, tools: Tools, gpu: Gpu, cubin: bytes) -> tuple[str, ...]:
    where = Where(pool.python, dict(pool.helpers)[gpu.architecture], gpu.uuid)
    images = (("student", Image(cubin, "")),)
    said = _run(where, images, tools)
    if said or not pool.sanitizer:
        return said
    names = sanitizer.tools_for(pool.races)
    with ThreadPoolExecutor(len(names)) as executor:
        reports = tuple(executor.map(lambda tool: _report(tool, pool, where, images, tools), names))
    return selftest.missed(reports, names)


def _run(where: Where, images: tuple[tuple[str, Image], ...], tools: Tools) -> tuple[str, ...]:
    """The kernel without a bug, on its own: it reverses 64 numbers."""
    case = selftest.cases()[selftest.RIGHT]
    job = run_job(where, images, (case,), entries=selftest.entries())
    result = tools.sandbox.run(job)
    answer = read_answer(result.file(ANSWER))
    if answer.health != "ok" or answer.error or not answer.cases:
        return (f"the GPU does not run a simple kernel: {answer.error or answer.health}",)
    (done,) = answer.cases
    if done.state != "done":
        return (f"the GPU does not run a simple kernel: {done.state} {done.error} {done.message}",)
    given, left = (np.asarray(argument.value) for argument in case.arguments)
    got = read_array(result, output_file(case.index, "out"), left)
    right = np.array_equal(got, given[::-1])
    return () if right else ("the GPU ran a simple kernel and its result is wrong",)


def _report(
    tool: str, pool: GpuPool, where: Where, images: tuple[tuple[str, Image], ...], tools: Tools
) -> ToolReport:
    cases = selftest.cases()
    chosen = tuple(c for c in cases if c.index in (selftest.planted(tool).case, selftest.RIGHT))
    job = run_job(
        where,
        images,
        chosen,
        mode="sanitize",
        entries=selftest.entries(),
        tool=sanitizer.command(tool, pool.sanitizer),
        tool_files=sanitizer.files(tool),
    )
    return sanitizer.read(tool, tools.sandbox.run(job), chosen, selftest.NAME, OWN_SOURCE)


def examine(pool: GpuPool, tools: Tools) -> tuple[GpuPool, tuple[str, ...]]:
    """The pool with the GPUs that passed, and what was wrong with the others.

    A GPU that was taken out of use and passes is taken back.
    """
    fit, said = [], []
    for gpu in pool.gpus:
        problems = faults(pool, tools, gpu)
        if problems:
            said += [f"{gpu.name}: {problem}" for problem in problems]
        else:
            devices.mark_well(gpu)
            fit.append(gpu)
    return replace(pool, gpus=tuple(fit)), tuple(said)
