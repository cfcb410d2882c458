"""A submission → PTX for the emulator, or a program; or findings with the reason why there is none.

    files ─preprocess▶ one text ─cicc, twice▶ PTX and hazard PTX ─ptxas▶ resources
    files ─nvcc▶ object ─nvcc▶ program

`build` is the whole stage for a kernel (`grader.toolchain.nvcc.stage`), `build_program` for a program
(`grader.toolchain.nvcc.program`). What builds what an assignment asks for, all of its kernels or a program,
always gives a record.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.base.errors import OurError
from grader.model import Build
from grader.toolchain.nvcc import cache as cache_folder
from grader.toolchain.nvcc.cache import cached_toolchain
from grader.toolchain.nvcc.ptxas import OWN_SOURCE, MachineCode, assemble, compile_own, machine_code
from grader.toolchain.nvcc.toolchain import (
    HOW_TO_GET_NVDISASM,
    Toolchain,
    Tools,
    find_toolchain,
    toolchain_in,
)
from grader.toolchain.sandbox import COMPILING, Limits

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import FunctionInterface, KernelInterface, Named, ProgramInterface, Submission
    from grader.toolchain.sandbox import Sandbox

__all__ = [
    "HOW_TO_GET_NVDISASM",
    "LIMITS",
    "OWN_SOURCE",
    "MachineCode",
    "Toolchain",
    "Tools",
    "assemble",
    "build",
    "build_at",
    "build_kernels",
    "build_program",
    "cached_toolchain",
    "compile_own",
    "find_toolchain",
    "machine_code",
    "toolchain_in",
]


LIMITS = COMPILING
"""Limits of each step of a build."""


def build(
    submission: Submission,
    interface: KernelInterface,
    *,
    sandbox: Sandbox,
    toolchain: Toolchain,
    cache: Path | None,
    limits: Limits = LIMITS,
) -> Build:
    """Compile a submission; what was compiled before comes from the folder ``cache``.

    A submission at fault gives a build that is not ``ok``, with findings. Raises OurError (ToolMissing,
    StorageError) where the grader's machine is at fault.
    """
    if submission.problem is not None:
        return Build(ok=False, findings=(submission.problem,))
    began = time.perf_counter()
    key = cache_folder.digest(submission, interface, toolchain, limits) if cache else ""
    stored = cache_folder.load(cache, key) if cache else None
    if stored is not None:
        return replace(stored, seconds=(("cache", time.perf_counter() - began),))
    from grader.toolchain.nvcc.stage import compiled  # noqa: PLC0415 - what was compiled before does without

    result, lasting = compiled(
        submission, interface, sandbox=sandbox, toolchain=toolchain, cache=cache, limits=limits
    )
    if cache and lasting:
        cache_folder.store(cache, key, result)
    return result


def build_kernels(
    tools: Tools,
    submission: Submission,
    interface: KernelInterface,
    architecture: str = "",  # noqa: ARG001 - as for a program; the PTX of a kernel is for all GPUs
) -> Build:
    """Build a submission's kernels; a failure of ours is in the record's ``error`` instead of raised.

    All kernels that an assignment asks for have to be there: the first one that is missing is reported.
    """
    built = _one_kernel(tools, submission, interface)
    others: list[tuple[str, Build]] = []
    asked = (interface.kernel, *interface.others)
    for name in interface.others if built.ok else ():
        beside = tuple(kernel for kernel in asked if kernel != name)
        other = _one_kernel(tools, submission, replace(interface, kernel=name, others=beside))
        if not other.ok:
            return other
        others.append((name, other))
    return replace(built, others=tuple(others)) if others else built


def build_program(
    tools: Tools,
    submission: Submission,
    interface: ProgramInterface | FunctionInterface,
    architecture: str = "",
) -> Build:
    """`grader.toolchain.nvcc.program.build_program`, loaded where there is a program to build."""
    from grader.toolchain.nvcc import program  # noqa: PLC0415 - grading kernels does without

    return program.build_program(tools, submission, interface, architecture)


def build_at(
    tools: Tools, submission: Submission, interface: KernelInterface, kernel: str, shape: Named[int]
) -> Build:
    """Build one ``kernel`` with those sizes of a ``shape`` that the file writes down as macros."""
    names = {name for name, _ in interface.sizes}
    sizes = tuple((name, size) for name, size in shape if name in names)
    return _one_kernel(tools, submission, replace(interface, kernel=kernel, others=(), given=sizes))


def _one_kernel(tools: Tools, submission: Submission, interface: KernelInterface) -> Build:
    try:
        return build(
            submission,
            interface,
            sandbox=tools.sandbox,
            toolchain=tools.toolchain,
            cache=tools.cache,
        )
    except OurError as problem:
        return Build(ok=False, error=str(problem))
