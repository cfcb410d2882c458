"""Macros whose names a file declares again, as parameters of templates, variables or parameters.

    #define T 16  …  template <typename T>   ─▶ line of the template: T, and the line of its macro

The preprocessor puts the macro's text there, and the compiler's message is about that text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

_TYPES = (
    "typename|class|struct|auto|bool|char|short|int|long|unsigned|signed|float|double|half|__half|size_t|dim3"
)
_DEFINED = re.compile(rf"\s*#\s*define\s+(\w+)\s+(?:[\d(\-'\".]|(?:{_TYPES})\b)", re.ASCII)
"""A macro whose text is no name: what stands for `__restrict__` is no obstacle to a declaration."""

_UNDEFINED = re.compile(r"\s*#\s*undef\s+(\w+)", re.ASCII)
_TYPES = (
    "typename|class|struct|auto|bool|char|short|int|long|unsigned|signed|float|double|half|__half|size_t|dim3"
)
_DECLARED = re.compile(rf"\b(?:{_TYPES})\b[\s*&]+(?:const\s+|__restrict__\s+)*(\w+)", re.ASCII)
_COMMENT = re.compile(r"//.*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"")


@frozen
class ReplacedName:
    """A ``name`` that a line declares, and that the macro of another ``line`` takes the place of."""

    name: str
    line: int


def replaced_names(source: bytes) -> Mapping[int, ReplacedName]:
    """The first such name of each line, by the line's number."""
    macros: dict[str, int] = {}
    replaced: dict[int, ReplacedName] = {}
    for number, line in enumerate(source.decode(errors="replace").splitlines(), start=1):
        defined, undefined = _DEFINED.match(line), _UNDEFINED.match(line)
        if defined:
            macros[defined[1]] = number
        elif undefined:
            macros.pop(undefined[1], None)
        elif macros:
            names = (match[1] for match in _DECLARED.finditer(_COMMENT.sub(" ", line)))
            name = next((name for name in names if name in macros), None)
            if name is not None:
                replaced[number] = ReplacedName(name, macros[name])
    return replaced
