"""OpenMP in host code: which programs use it, and how they are compiled and linked then.

No program can ask for it by itself; makefiles say ``-Xcompiler -fopenmp``. The library comes with g++.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.model import Named

_USE = re.compile(rb"""^[ \t]*#[ \t]*(?:pragma[ \t]+omp\b|include[ \t]*[<"]omp\.h[>"])""", re.MULTILINE)


def compiling(sources: Named[bytes]) -> tuple[str, ...]:
    """What the host's compiler is told for a program of these sources."""
    return ("-fopenmp",) if _is_used(sources) else ()


def linking(sources: Named[bytes]) -> tuple[str, ...]:
    """What the linker is told."""
    return ("-lgomp",) if _is_used(sources) else ()


def _is_used(sources: Named[bytes]) -> bool:
    """Whether any of them includes the header, or has a directive."""
    return any(_USE.search(text) for _, text in sources)
