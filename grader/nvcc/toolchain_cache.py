"""What was found out about this machine's compiler, kept in the folder of builds.

Asking nvcc and g++ what they would do starts eight processes, a fifteenth of a check. An entry counts while
every program that was asked or will be run, and the profile that nvcc reads, is as large and as old as it
was, and while no folder for headers came or went. Without a disassembler nothing is kept: somebody may
install one.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

from grader.nvcc import preamble
from grader.nvcc.cache import made_by, read_entry, write_entry
from grader.nvcc.toolchain import ARCHITECTURE, Toolchain, find_programs, find_toolchain

if TYPE_CHECKING:
    from collections.abc import Iterator


def cached_toolchain(
    cache: Path | None, explicit: str | None = None, architecture: str = ARCHITECTURE
) -> Toolchain:
    """`find_toolchain`, whose answers are kept in the folder ``cache``; raises ToolMissing as it does."""
    if cache is None:
        return find_toolchain(explicit, architecture)
    nvcc, compiler = find_programs(explicit)
    path = _path(cache, nvcc, compiler, architecture)
    stored = read_entry(path)
    if stored is not None:
        states, values = marshal.loads(stored)  # noqa: S302 - our own, with its checksum
        toolchain = Toolchain(Path(values[0]), *values[1:])
        if states == _states(toolchain):
            return toolchain
    toolchain = find_toolchain(explicit, architecture)
    if toolchain.nvdisasm:
        values = (str(toolchain.nvcc), *astuple(toolchain)[1:])
        write_entry(path, marshal.dumps((_states(toolchain), values)))
    return toolchain


def _path(cache: Path, nvcc: Path, compiler: Path, architecture: str) -> Path:
    names = [field.name for field in fields(Toolchain)]
    search = os.environ.get("PATH", os.defpath)
    parts = (made_by(), sys.version, names, str(nvcc), str(compiler), architecture, search)
    return cache / "toolchains" / f"{hashlib.sha256(repr(parts).encode()).hexdigest()}.toolchain"


def _states(toolchain: Toolchain) -> tuple[list[tuple[str, int, int]], list[str]]:
    """The programs' sizes and times of change, and which folders for headers there are."""
    folders = (*toolchain.roots, *toolchain.absent)
    return preamble.states_of(_programs(toolchain)), [folder for folder in folders if Path(folder).is_dir()]


def _programs(toolchain: Toolchain) -> Iterator[str]:
    """What is asked or run, and what nvcc reads before it answers."""
    yield from (str(toolchain.nvcc), str(toolchain.nvcc.parent / "nvcc.profile"), toolchain.host_compiler)
    yield from (toolchain.compile[0], toolchain.ptxas, toolchain.nvdisasm)
