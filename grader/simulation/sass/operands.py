"""Linking operands: how an instruction reads and writes registers, predicates, constants and immediates."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from grader.base.records import frozen
from grader.simulation.sass.listing import Integer, Real, SassConstant, SassRegister, UnknownCodeError
from grader.simulation.sass.native_code import (
    NOUGHT,
    UNIFORM,
    UNIFORM_PREDICATES,
    Sign,
    SourceOperand,
    Truth,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.simulation.sass.listing import Operand, SassInstruction

MASK = 0xFFFFFFFF
LONG_MASK = 0xFFFFFFFFFFFFFFFF
_SIGN = 1 << 31


@frozen
class SassLink:
    """An instruction that is being linked: ``banks`` are the constant banks of the launch, as bytes."""

    instruction: SassInstruction
    banks: Mapping[int, bytes]

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands."""
        return self.instruction.operands

    def has(self, modifier: str) -> bool:
        """True if the instruction has a modifier."""
        return modifier in self.instruction.modifiers

    def named(self, names: Sequence[str]) -> int:
        """The place among some names of the first modifier that is one; -1 where none is."""
        return next((names.index(name) for name in self.instruction.modifiers if name in names), -1)

    def unknown(self) -> UnknownCodeError:
        """Error for this instruction, which is not interpreted."""
        return UnknownCodeError(".".join((self.instruction.opcode, *self.instruction.modifiers)))

    def only(self, *modifiers: str) -> None:
        """Refuse an instruction with any other modifier."""
        if not set(modifiers).issuperset(self.instruction.modifiers):
            raise self.unknown()

    def bank(self, number: int) -> bytes:
        """A constant bank."""
        content = self.banks.get(number)
        if content is None:
            raise self.unknown()
        return content

    def constant(self, bank: int, offset: int, size: int = 4) -> int:
        """Some bytes of a bank as an unsigned number; 0 behind its end."""
        return int.from_bytes(self.bank(bank)[offset : offset + size].ljust(size, b"\0"), "little")

    def word(self, operand: Operand) -> SourceOperand:
        """A 32-bit integer, with its sign or inversion."""
        if isinstance(operand, SassRegister):
            index = register_index(operand)
            if index < 0:
                return fixed(_signed_word(0, operand))
            signs = (
                Sign.NEGATED * operand.negated
                or Sign.INVERTED * operand.inverted
                or Sign.ABSOLUTE * operand.absolute
            )
            return SourceOperand(index, signs, 0, 0)
        return fixed(self._fixed_word(operand))

    def _fixed_word(self, operand: Operand) -> int:
        if isinstance(operand, Integer):
            return operand.value & MASK
        if isinstance(operand, Real):
            return single_bits(operand.value)
        if isinstance(operand, SassConstant) and operand.register is None:
            return _signed_word(self.constant(operand.bank, operand.offset), operand)
        raise self.unknown()

    def real(self, operand: Operand) -> SourceOperand:
        """A float32, with `|…|` and its sign."""
        if isinstance(operand, SassRegister):
            index = register_index(operand)
            if index < 0:
                return fixed(_signed_real(0, operand))
            return SourceOperand(index, _real_signs(operand), 0, 0)
        if isinstance(operand, SassConstant):
            return fixed(_signed_real(self.constant(operand.bank, operand.offset), operand))
        return fixed(self._fixed_word(operand))

    def pair(self, operand: Operand) -> SourceOperand:
        """A 64-bit integer in two registers, the lower half in the first."""
        if isinstance(operand, SassRegister):
            index = register_index(operand)
            return NOUGHT if index < 0 else SourceOperand(index, Sign.NEGATED * operand.negated, 0, 0)
        if isinstance(operand, SassConstant) and operand.register is None:
            return fixed(self.constant(operand.bank, operand.offset, 8))
        if isinstance(operand, Integer):
            return fixed(operand.value & LONG_MASK)
        raise self.unknown()

    def double(self, operand: Operand) -> SourceOperand:
        """A float64 in two registers."""
        if isinstance(operand, Real):
            return fixed(int.from_bytes(struct.pack("<d", operand.value), "little"))
        if not isinstance(operand, SassRegister | SassConstant):
            raise self.unknown()
        plain = self.pair(operand.without_signs())
        if plain.number < 0:
            return fixed(_signed_real(plain.value >> 32, operand) << 32 | plain.value & MASK)
        return plain._replace(signs=_real_signs(operand))

    def truth(self, operand: Operand) -> Truth:
        """A predicate, perhaps inverted."""
        if not isinstance(operand, SassRegister):
            raise self.unknown()
        return Truth(predicate_index(operand), operand.inverted)

    def split(self, sources: int) -> tuple[int, tuple[int, ...], tuple[Operand, ...], tuple[Operand, ...]]:
        """The operands: the written register, the written predicates, ``sources`` sources, the rest."""
        first, *rest = self.operands
        written = []
        while rest and is_predicate(rest[0]) and len(rest) > sources:
            written.append(predicate_index(rest.pop(0)))
        return register_index(first), tuple(written), tuple(rest[:sources]), tuple(rest[sources:])


def fixed(value: int) -> SourceOperand:
    """A source that is the same for all lanes."""
    return SourceOperand(-1, 0, 0, value)


def is_predicate(operand: Operand) -> bool:
    """True if an operand is a predicate."""
    return isinstance(operand, SassRegister) and operand.file in ("P", "UP")


def register_index(operand: Operand) -> int:
    """Index of a register in `SassMachine.registers`; -1 for RZ."""
    if not isinstance(operand, SassRegister) or operand.file not in ("R", "UR"):
        raise UnknownCodeError(str(operand))
    return operand.index + UNIFORM if operand.file == "UR" and operand.index >= 0 else operand.index


def predicate_index(operand: Operand) -> int:
    """Index of a predicate in `SassMachine.predicates`; -1 for PT."""
    if not isinstance(operand, SassRegister):
        raise UnknownCodeError(str(operand))
    uniform = operand.file == "UP" and operand.index >= 0
    return operand.index + UNIFORM_PREDICATES if uniform else operand.index


def single_bits(value: float) -> int:
    """The bits of a number rounded to float32; one that is too large becomes infinite."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 | _SIGN * (value < 0)


def _real_signs(operand: SassRegister | SassConstant) -> int:
    return Sign.REAL_ABSOLUTE * operand.absolute | Sign.REAL_NEGATED * operand.negated


def _signed_word(value: int, operand: SassRegister | SassConstant) -> int:
    if operand.negated:
        return -value & MASK
    return ~value & MASK if operand.inverted else value


def _signed_real(bits: int, operand: SassRegister | SassConstant) -> int:
    bits = bits & ~_SIGN if operand.absolute else bits
    return bits ^ _SIGN if operand.negated else bits
