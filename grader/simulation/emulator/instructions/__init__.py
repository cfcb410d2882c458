"""One chapter of the PTX ISA per file, one function per opcode, one line per opcode in its TABLE.

A chapter's function takes an instruction and a `Link` and gives the step that executes it. To add an opcode:
write the function in its chapter, add the line, add the case to the chapter's test. Some opcodes exist for
several types, each in its own chapter: a chapter with TYPES has the opcodes of its TABLE for these types.
`Link.form` reads type, state space and other modifiers, and refuses the modifiers that no chapter function
accepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from grader.simulation.emulator.instructions import (
    atomic,
    barrier,
    bits,
    compare,
    control,
    convert,
    floating,
    half,
    integer,
    matrix,
    memory,
    simd,
    warp,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.simulation.emulator.linking.link import Link
    from grader.simulation.ptx import Instruction

Build: TypeAlias = "Callable[[Instruction, Link], Any]"
"""Makes the step of an instruction: a `Step` or a `ControlStep`."""

CHAPTERS = (
    integer,
    bits,
    simd,
    compare,
    convert,
    memory,
    atomic,
    warp,
    matrix,
    barrier,
    control,
    floating,
    half,
)

TABLE: dict[tuple[str, str], Build] = {}
"""By opcode and type the function that makes the step; the type is empty where any other is meant."""

for _chapter in CHAPTERS:
    for _opcode, _build in _chapter.TABLE.items():
        TABLE.setdefault((_opcode, ""), _build)
        TABLE.update({(_opcode, _type): _build for _type in getattr(_chapter, "TYPES", ())})

OPCODES = frozenset(opcode for opcode, _ in TABLE)
"""All opcodes that are interpreted, in some form."""


def step_of(link: Link) -> Any:  # noqa: ANN401 - a Step or a ControlStep
    """The step that executes the instruction of a link.

    Raises LookupError for an opcode that no chapter has, and the errors that the chapter raises for a form of
    it.
    """
    ins = link.instruction
    if ins.modifiers and ins.modifiers[-1] == "relu":  # some headers write `max.s32.relu`
        ins = replace(ins, modifiers=("relu", *ins.modifiers[:-1]))
        link = replace(link, instruction=ins)
    type_ = ins.modifiers[-1] if ins.modifiers else ""
    build = TABLE.get((ins.opcode, type_)) or TABLE[ins.opcode, ""]
    return build(ins, link)
