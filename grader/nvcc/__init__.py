"""A submission → PTX for the emulator, or a program; or findings that say why there is none.

    files ─preprocess▶ one text ─cicc, twice▶ PTX and hazard PTX ─ptxas▶ resources
    files ─nvcc▶ object ─nvcc▶ program

`build` is the whole stage for a kernel (the steps are in `grader.nvcc.compiler`), `build_program` for a
program (`grader.nvcc.program`).
"""

from __future__ import annotations

from grader.nvcc.any_kind import build_at, build_kernels, build_program
from grader.nvcc.disassembly import MachineCode, machine_code
from grader.nvcc.ptxas import OWN_SOURCE, assemble, compile_own
from grader.nvcc.stage import LIMITS, build
from grader.nvcc.toolchain import HOW_TO_GET_NVDISASM, Toolchain, Tools, find_toolchain, toolchain_in
from grader.nvcc.toolchain_cache import cached_toolchain

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
