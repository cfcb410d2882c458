"""Many CUDA files as one, each in a namespace of its own: nvdisasm takes a fifth of a second to begin."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from grader.simulation.ptx import parse
from tests.simulation.emulator.nvcc import entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.simulation.ptx import Module

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b.*$", re.MULTILINE)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)

parsed = lru_cache(maxsize=4)(parse)
"""A module that was parsed: many of its kernels are run one after the other."""


def together(sources: Mapping[str, str]) -> str:
    """One text of all files, by the names of their namespaces; a macro ends with its file."""
    includes = (line.strip() for source in sources.values() for line in _INCLUDE.findall(source))
    parts = [*dict.fromkeys(includes)]
    for name, source in sources.items():
        own = _INCLUDE.sub("", source).replace('extern "C" ', "")
        forgotten = (f"#undef {macro}" for macro in dict.fromkeys(_MACRO.findall(source)))
        parts += [f"namespace {name} {{", own, "}", *forgotten]
    return "\n".join((*parts, ""))


def entries_of(name: str, module: Module) -> list[str]:
    """The kernels of a file, by the name of its namespace (Itanium C++ ABI, section 5.1.2)."""
    return [entry for entry in entries(module) if entry.startswith(f"_ZN{len(name)}{name}")]
