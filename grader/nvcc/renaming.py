"""What a student's kernel calls the parameters that the assignment names otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.model import Named, Parameter

_NAME = re.compile(r"(?!__)[A-Za-z_][A-Za-z0-9_]{0,39}", re.ASCII)
"""Names that are short enough for a sentence, and no attribute such as ``__restrict__``."""


def student_names(parameters: Sequence[Parameter], declared: Sequence[str]) -> Named[str]:
    """The assignment's arrays that the file calls otherwise, each with the file's name for it.

    A launch passes arguments by place, so the place decides which name belongs to which. Where a name is
    missing, cannot be shown, or is there twice, the assignment's names stay: half of them would mislead.
    """
    readable = all(_NAME.fullmatch(name) for name in declared)
    if not readable or len(declared) != len(parameters) or len(set(declared)) != len(declared):
        return ()
    pairs = zip(parameters, declared, strict=True)
    return tuple(
        (parameter.name, name) for parameter, name in pairs if parameter.extents and parameter.name != name
    )
