"""The path of a kernel's machine code, and the kernel's name there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.estimate.records import Kernel

_SECTION = re.compile(rb"\.text\.(\w+)\x00")


def cubin_of(kernel: Kernel, folder: Path) -> Path:
    """Return the path of the machine code of a kernel's file among those that were built."""
    return folder / f"{kernel.file.removesuffix('.cu').replace('/', '_')}.cubin"


def entry_in(cubin: bytes, name: str) -> str:
    """The kernel of this name as a cubin names it, mangled or not; raises ValueError if it has not one."""
    names = {str(match[1], "ascii") for match in _SECTION.finditer(cubin)}
    mangled = f"_Z{len(name)}{name}"
    entries = [found for found in names if found == name or found.startswith(mangled)]
    if len(entries) != 1:
        raise ValueError(f"there are {len(entries)} kernels {name!r} among {sorted(names)}")
    (entry,) = entries
    return entry
