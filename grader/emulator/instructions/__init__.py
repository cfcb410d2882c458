"""One chapter of the PTX ISA per file, one function per opcode, one line per opcode in its TABLE.

A chapter's function takes an instruction and a `Link` and gives the step that executes it. To add an
opcode: write the function in its chapter, add the line, add the case to the chapter's test. Some opcodes
exist for several types, each in its own chapter: the instruction's last type says which one is meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.emulator.instructions import (
    async_copy,
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

    from grader.emulator.linking.link import Link
    from grader.ptx import Instruction

CHAPTERS = (
    integer,
    bits,
    simd,
    compare,
    convert,
    memory,
    async_copy,
    atomic,
    warp,
    matrix,
    barrier,
    control,
    floating,
    half,
)
_OF_TYPES = (simd, half, floating)
"""Chapters that their own TYPES are for; everything else is for the chapter that comes first."""


def _by_type(opcode: str, usual: Callable[[Instruction, Link], Any]) -> Callable[[Instruction, Link], Any]:
    def build(ins: Instruction, link: Link) -> Any:  # noqa: ANN401 - a Step or a ControlStep
        if ins.modifiers and ins.modifiers[-1] == "relu":  # some headers write `max.s32.relu`
            ins = replace(ins, modifiers=("relu", *ins.modifiers[:-1]))
        for chapter in _OF_TYPES:
            if ins.modifiers and ins.modifiers[-1] in chapter.TYPES and opcode in chapter.TABLE:
                return chapter.TABLE[opcode](ins, link)
        return usual(ins, link)

    return build


TABLE: dict[str, Any] = {}
for _chapter in CHAPTERS:
    for _opcode, _build in _chapter.TABLE.items():
        TABLE.setdefault(_opcode, _build)
for _opcode in {opcode for chapter in _OF_TYPES for opcode in chapter.TABLE}:
    TABLE[_opcode] = _by_type(_opcode, TABLE[_opcode])
