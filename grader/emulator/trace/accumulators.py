"""Which local variables gather a result: the sums that a kernel's threads keep for themselves.

The -O0 build keeps them in registers, which have no names. A value counts as one that is gathered if it is
made, by an addition or the like, of what it was a turn of a loop before; or if the line says so itself
(``v += …``). A loop's counter is made in that way, too, but of nothing that came from memory or from another
thread.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.ptx import Address, Register, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.ptx import Function, Instruction

_GATHERING = {"add", "sub", "fma", "mad", "mul", "max", "min", "or", "and", "xor"}
_PASSED_ON = {"mov", "selp", "cvt", "neg", "abs"}
_FLOATS = ("f16", "f32", "f64")
_NUMBERS = (*_FLOATS, "s32", "u32", "b32", "s64", "u64", "b64")
_FROM_ELSEWHERE = {"ld", "ldu", "shfl", "atom", "vote", "match", "redux"}

_COMPOUND = re.compile(r"(?:^|[;{)])\s*([A-Za-z_]\w*)\s*(\[[^;]*?\])?\s*(?:[-+*&|^]|<<|>>)=[^=]")
_SPELT_OUT = re.compile(r"(?:^|[;{)]|\b(?:float|double|int|unsigned))\s*([A-Za-z_]\w*)\s*=[^=;]*\b\1\b")
_COMMENT = re.compile(r"//.*|/\*.*?\*/")


@dataclass(eq=False, slots=True)
class _Values:
    """What the registers of a function are made of."""

    function: Function
    made: dict[str, list[Instruction]] = field(default_factory=dict)
    _slices: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note who defines which register."""
        for instruction in self.function.body:
            if instruction.operands and isinstance(instruction.operands[0], Register):
                self.made.setdefault(instruction.operands[0].name, []).append(instruction)

    def behind(self, register: str) -> frozenset[str]:
        """The registers that a value is computed from, by arithmetic alone; itself among them."""
        if register not in self._slices:
            seen, left = {register}, [register]
            while left:
                for instruction in self.made.get(left.pop(), ()):
                    if instruction.opcode in _GATHERING | _PASSED_ON:
                        new = set(_registers(instruction)) - seen
                        seen |= new
                        left.extend(new)
            self._slices[register] = frozenset(seen)
        return self._slices[register]

    def from_elsewhere(self, register: str) -> bool:
        """Whether a value depends on memory, on another thread, or on what a function gave."""
        parameters = {each.name for each in self.function.parameters}
        return any(
            made.opcode in _FROM_ELSEWHERE and not _is_parameter(made, parameters)
            for each in self.behind(register)
            for made in self.made.get(each, ())
        )


def gathered(
    function: Function, line_of: Callable[[Instruction], int | None], source: Sequence[str]
) -> dict[int, int]:
    """The instructions of a function that gather, as index → line; one for each line, its last."""
    values, found = _Values(function), dict[int, int]()
    for index, instruction in enumerate(function.body):
        line = line_of(instruction)
        if line and _may_gather(instruction) and _gathers(values, instruction, _text(source, line)):
            found[line] = index
    return {index: line for line, index in found.items()}


def name_of(line: int, source: Sequence[str]) -> str:
    """The variable that a line adds to, as far as the line shows it; empty where it does not."""
    text = _text(source, line)
    match = _COMPOUND.search(text) or _SPELT_OUT.search(text)
    return match[1] if match else ""


def _text(source: Sequence[str], line: int) -> str:
    return _COMMENT.sub("", source[line - 1][:500]) if 0 < line <= len(source) else ""


def _may_gather(instruction: Instruction) -> bool:
    kind = instruction.modifiers[-1] if instruction.modifiers else ""
    return (
        instruction.opcode in _GATHERING
        and kind in _NUMBERS
        and isinstance(instruction.operands[0], Register)
    )


def _gathers(values: _Values, instruction: Instruction, text: str) -> bool:
    """Whether the result goes into its own making, together with something that is worth gathering."""
    result = instruction.operands[0].name  # type: ignore[union-attr]
    compound = _COMPOUND.search(text)
    says_so = compound is not None and not compound[2]
    parts = _registers(instruction)
    again = [part for part in parts if result in values.behind(part)]
    if not again and not says_so:
        return False
    others = [part for part in parts if part not in again] or parts
    is_float = instruction.modifiers[-1] in _FLOATS
    if is_float:
        return len(parts) > 1
    return any(values.from_elsewhere(part) for part in others)


def _registers(instruction: Instruction) -> list[str]:
    return [each.name for each in instruction.operands[1:] if isinstance(each, Register)]


def _is_parameter(instruction: Instruction, parameters: set[str]) -> bool:
    """Whether a load reads a parameter of the function itself: the same in every turn."""
    address = instruction.operands[-1]
    base = address.base if isinstance(address, Address) else None
    return "param" in instruction.modifiers and isinstance(base, Symbol) and base.name in parameters
