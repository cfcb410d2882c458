"""A digest of PTX that is the same for two sources which differ in names, comments and layout alone.

Registers and labels are numbered by the compiler. What stems from the source are symbols (kernels, their
parameters, arrays) and the lines that ``.loc`` and ``.file`` name (PTX ISA, sections 4.4 and 11.5).
"""

from __future__ import annotations

import re
from hashlib import sha256
from itertools import count

_PASSED_OVER = re.compile(
    r"//[^\n]*|/\*.*?\*/|^[ \t]*\.(?:loc|file)\b[^\n]*|^[ \t]*\.section\b[^}]*\}", re.MULTILINE | re.DOTALL
)
_WORD = re.compile(r"(?<![.%$\w])[A-Za-z_][\w$]*(?![.$\w])")
"""A symbol, or an opcode without modifiers: either is given a number by its first occurrence."""


def digest(ptx: str) -> str:
    """The digest, in hexadecimal; empty where there is no PTX."""
    if not ptx:
        return ""
    numbers = count()
    names: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        if match[0] not in names:
            names[match[0]] = f"${next(numbers)}"
        return names[match[0]]

    code = _WORD.sub(renamed, _PASSED_OVER.sub("", ptx))
    return sha256(" ".join(code.split()).encode()).hexdigest()
