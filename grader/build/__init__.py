"""A submission → PTX for the emulator, or findings that say why there is none.

    files ─preprocess▶ one text ─cicc, twice▶ PTX and hazard PTX ─ptxas▶ resources

`build` is the whole stage; the steps are in `grader.build.compiler`.
"""

from __future__ import annotations

from grader.build.cubin import OWN_SOURCE, assemble, compile_own
from grader.build.stage import LIMITS, build
from grader.build.toolchain import Toolchain, find_toolchain
from grader.build.tools import Tools, build_with

__all__ = [
    "LIMITS",
    "OWN_SOURCE",
    "Toolchain",
    "Tools",
    "assemble",
    "build",
    "build_with",
    "compile_own",
    "find_toolchain",
]
