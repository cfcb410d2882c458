"""What a compiler's message suggests, where it says what is wrong but not what to do about it."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from grader.model import FindingKind, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model import Finding

BUILTINS = (
    "__syncthreads",
    "__syncwarp",
    "__shared__",
    "__global__",
    "__device__",
    "__host__",
    "__constant__",
    "__restrict__",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "atomicAdd",
)
"""CUDA's own names that are often misspelt."""

ALIKE = 0.75
"""Of `difflib`: `__syncthread`, `blockidx` and `thread_idx` are near enough, `block` and `sync` are not."""

UNKNOWN = re.compile(r'identifier "(\w+)" is undefined|"(\w+)" has not been declared', re.ASCII)

PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (
            r"^the \w+ holds \d+ .* files \(.*; expected exactly one$",
            "leave one file with your kernel in what you hand in; its headers may stay beside it.",
        ),
        (
            r"^`.*` is empty; expected",
            "save the file in your editor, and look at what you hand in before you do.",
        ),
        (
            r"^`.*` has [\d,]+ bytes; expected",
            "hand in the source text alone, without data and without what was made of it.",
        ),
        (
            r"^the \w+ (?:has no source file|is empty); expected",
            "put the file with your kernel into it, with the ending `.cu`.",
        ),
        (
            r"^`.*` is .*; expected the source text of your kernel$",
            "hand in the `.cu` file as your editor saves it.",
        ),
        (
            r"no kernel named `\w+` is compiled: `#\w+",
            "write the kernel outside of that `#if`, or define in the file what the directive asks for.",
        ),
        (
            r"no kernel named `(\w+)`.* no `__global__` function",
            "put `__global__` before `void {0}`: without it the function is host code and no kernel.",
        ),
        (
            r"no kernel named `(\w+)`.* asked for, too$",
            "write a kernel `{0}` as well: each kernel that the hand-out asks for has to be in the file.",
        ),
        (
            r"the kernel `(\w+)` is a template that this file never uses, so that nothing gives",
            (
                "launch the kernel in `main` with the values that you mean, or name them in a line after it: "
                "`template __global__ void {0}<…>(…);`."
            ),
        ),
        (
            r"no kernel named `(\w+)`",
            "name your kernel `{0}`, exactly as the hand-out does.",
        ),
        (
            "[\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u00b4]",
            "replace typographic quotes by straight ones: they come from a text editor or a web page.",
        ),
        (
            r"calling a (?:constexpr )?__host__ function ?\(\"(?:std::)?ceilf?\b",
            "that function exists on the host only; for a rounded-up quotient write `(a + b - 1) / b`.",
        ),
        (
            r"calling a (?:constexpr )?__host__ function",
            "a kernel can only call functions of the device: put `__device__` before it if it is your own.",
        ),
        (
            r'^expected a ";"',
            "put a `;` where the statement before ends: the compiler notices only at the next one.",
        ),
        (
            r"zero-sized variable|array.*(?:greater than zero|negative)",
            "an array needs at least one element: look at the constant that its size is made of.",
        ),
    )
)
"""What a message looks like, and what to do; `{0}` is its first group."""


def compile_hint(findings: Iterable[Finding]) -> str:
    """What to do about the first error of a compiler that is known; empty where none is."""
    errors = (
        finding.message
        for finding in findings
        if finding.kind is FindingKind.COMPILE and finding.severity is Severity.ERROR
    )
    return next(filter(None, map(_hint, errors)), "")


def _hint(message: str) -> str:
    for pattern, hint in PATTERNS:
        found = pattern.search(message)
        if found:
            return hint.format(*found.groups())
    unknown = UNKNOWN.search(message)
    return "" if unknown is None else _spelling(unknown[1] or unknown[2])


def _spelling(name: str) -> str:
    """Which of CUDA's names was meant, if it looks like one."""
    plain = {builtin.lower(): builtin for builtin in BUILTINS}
    meant = get_close_matches(name.lower(), plain, 1, ALIKE)
    return f"did you mean `{plain[meant[0]]}` where it says `{name}`?" if meant else ""
