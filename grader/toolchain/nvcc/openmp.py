"""OpenMP in host code: detection of programs that use it, and options to compile and link them.

No program can ask for it by itself; makefiles have ``-Xcompiler -fopenmp``. The library comes with g++.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import Named

_USE = re.compile(rb"""^[ \t]*#[ \t]*(?:pragma[ \t]+omp\b|include[ \t]*[<"]omp\.h[>"])""", re.MULTILINE)


def compiling(sources: Named[bytes]) -> tuple[str, ...]:
    """Options of the host's compiler for a program of these sources."""
    return ("-fopenmp",) if _is_used(sources) else ()


def linking(sources: Named[bytes]) -> tuple[str, ...]:
    """Options of the linker."""
    return ("-lgomp",) if _is_used(sources) else ()


def _is_used(sources: Named[bytes]) -> bool:
    """True if any of them includes the header, or has a directive."""
    return any(_USE.search(text) for _, text in sources)
