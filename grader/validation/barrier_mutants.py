"""Barriers taken out of the PTX, one at a time.

In the source one call may stand for several barriers (an inlined function, an unrolled loop), and what the
compiler makes of a file without the call may differ in more. Here nothing changes but the barrier. It
is one of the -O0 build, where hazards are looked for; the default build loses its own, where it has as many.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.emulator.repair.statements import calls
from grader.ptx import parse
from grader.validation.records import Mutant
from grader.validation.source_mutants import stable_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model import Build
    from grader.ptx import Instruction, Module

KIND = "barrier-removed-from-ptx"

_STATEMENT = re.compile(r"(?:@!?%p\d+\s+)?(?:bar|barrier)\.[^;]*;")


def barrier_mutants(built: Build, source: bytes) -> tuple[Mutant, ...]:
    """A mutant for each barrier that the kernels of a build can come to."""
    text = source.decode("latin-1").split("\n")
    return tuple(_mutants(_barriers(built.hazard_ptx, _entries(built)), text, source))


def without_barrier(built: Build, number: int) -> Build:
    """The build without the barrier of this number: in the -O0 PTX and, if it has as many, the default's."""
    entries = _entries(built)
    there = _barriers(built.hazard_ptx, entries)
    hazard_ptx = _without(built.hazard_ptx, there[number])
    default = _barriers(built.ptx, entries)
    ptx = _without(built.ptx, default[number]) if len(default) == len(there) else built.ptx
    others = tuple((name, replace(other, ptx=ptx, hazard_ptx=hazard_ptx)) for name, other in built.others)
    return replace(built, ptx=ptx, hazard_ptx=hazard_ptx, others=others)


def _mutants(barriers: list[Instruction], text: list[str], source: bytes) -> Iterator[Mutant]:
    seen: dict[str, int] = {}
    for number, barrier in enumerate(barriers):
        line = barrier.location.line if barrier.location else 0
        shown = text[line - 1].strip() if 0 < line <= len(text) else ""
        seen[shown] = seen.get(shown, 0) + 1
        what = f"{barrier.name} of `{shown}` taken out of the PTX"
        diff = f"--- PTX of the solution\n+++ PTX of the mutant\n-    {barrier.name}  // line {line}: {shown}"
        yield Mutant(stable_id(KIND, shown, "", seen[shown]), KIND, line, what, source, diff, number)


def _entries(built: Build) -> tuple[str, ...]:
    return (built.entry, *(other.entry for _, other in built.others))


def _barriers(ptx: str, entries: tuple[str, ...]) -> list[Instruction]:
    """The barriers of the kernels and of what they call, in the order of the text."""
    module = parse(ptx)
    names = _reachable(module, entries)
    found = (each for function in module.functions if function.name in names for each in function.body)
    return sorted(filter(_is_barrier, found), key=lambda each: each.ptx_line)


def _is_barrier(instruction: Instruction) -> bool:
    return instruction.opcode in ("bar", "barrier") and "sync" in instruction.modifiers


def _reachable(module: Module, entries: tuple[str, ...]) -> set[str]:
    defined = {function.name: function for function in module.functions if function.defined}
    todo, found = [name for name in entries if name in defined], set[str]()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [called for called in calls(defined[name]) if called in defined]
    return found


def _without(ptx: str, barrier: Instruction) -> str:
    lines = ptx.split("\n")
    lines[barrier.ptx_line - 1] = _STATEMENT.sub("", lines[barrier.ptx_line - 1], count=1)
    return "\n".join(lines)
