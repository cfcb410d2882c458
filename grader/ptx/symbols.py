"""What variables of a PTX text are called in the source, and how large they are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from grader.ptx.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

_PIECE = re.compile(r"L[a-z]n?\d+E|A\d+_|[ST][0-9A-Z]*_|(?P<length>\d{1,9})")
"""A template's constant, an array's extent, a substitution; or the length of a name that follows."""


class ModuleVariable(NamedTuple):
    """A variable of a module in the state space ``global`` or ``const``, by its name in the PTX."""

    name: str
    space: str
    size: int


def symbol_name(symbol: str) -> str:
    """The source name of a variable: ``A_tile`` for ``_ZZ11tiledMatMulPfS_S_iiiE6A_tile``.

    Its own name comes last, after those of the function and the namespaces it is in, each led by its
    length (Itanium C++ ABI, section 5.1).
    """
    if not symbol.startswith("_Z"):
        return symbol
    name, position = symbol, len("_Z")
    while found := _PIECE.search(symbol, position):
        position = found.end()
        length = int(found["length"] or 0)
        if length and position + length <= len(symbol):
            name, position = symbol[position : position + length], position + length
    return name


def symbol_called(name: str, symbols: Iterable[str]) -> str | None:
    """The PTX name of the variable that the source calls ``name``; a global one comes before others."""
    called = [symbol for symbol in symbols if symbol_name(symbol) == name]
    return name if name in called else next(iter(called), None)


def module_variables(ptx: str) -> dict[str, ModuleVariable]:
    """The variables of a PTX text by their PTX names (PTX ISA section 5.4); raises PtxSyntaxError."""
    variables = (variable for variable in parse(ptx).variables if variable.space in ("global", "const"))
    return {v.name: ModuleVariable(v.name, v.space, v.size) for v in variables}
