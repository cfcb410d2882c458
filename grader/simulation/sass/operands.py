"""Linking operands: how an instruction reads and writes registers, predicates, constants and immediates."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from grader.base.records import frozen
from grader.simulation.sass.listing import Integer, Real, SassConstant, SassRegister, UnknownCodeError
from grader.simulation.sass.machine import FALSE, TRUE, UNIFORM, UNIFORM_PREDICATES, ZERO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from grader.simulation.sass.listing import Operand, SassInstruction
    from grader.simulation.sass.machine import SassMachine

    Reader: TypeAlias = "Callable[[SassMachine], NDArray[Any]]"

MASK = 0xFFFFFFFF

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}


BOOLEANS: dict[str, Callable[[Any, Any], Any]] = {
    "AND": operator.and_,
    "OR": operator.or_,
    "XOR": operator.xor,
}


@frozen
class SassLink:
    """An instruction that is being linked: ``banks`` are the constant banks of the launch, as bytes."""

    instruction: SassInstruction
    index: int
    banks: Mapping[int, bytes]

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands."""
        return self.instruction.operands

    def has(self, modifier: str) -> bool:
        """True if the instruction has a modifier."""
        return modifier in self.instruction.modifiers

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

    def word(self, operand: Operand) -> Reader:
        """A 32-bit integer, with its sign or inversion."""
        if isinstance(operand, SassRegister):
            index = register_index(operand)
            if index < 0:
                return _fixed(_signed_word(ZERO, operand))
            if operand.negated:
                return lambda m: np.negative(m.registers[index])
            if operand.inverted:
                return lambda m: ~m.registers[index]
            if operand.absolute:
                return lambda m: np.abs(m.registers[index].view(np.int32)).view(np.uint32)
            return lambda m: m.registers[index]
        return _fixed(self._fixed_word(operand))

    def _fixed_word(self, operand: Operand) -> NDArray[np.uint32]:
        if isinstance(operand, Integer):
            return np.array([operand.value & MASK], np.uint32)
        if isinstance(operand, Real):
            return np.array([operand.value], np.float32).view(np.uint32)
        if isinstance(operand, SassConstant) and operand.register is None:
            value = np.array([self.constant(operand.bank, operand.offset)], np.uint32)
            return _signed_word(value, operand)
        raise self.unknown()

    def real(self, operand: Operand) -> Reader:
        """A float32, with `|…|` and its sign."""
        if isinstance(operand, Real):
            return _fixed(np.array([operand.value], np.float32))
        if isinstance(operand, SassRegister):
            index = register_index(operand)
            if index < 0:
                return _fixed(_signed_real(ZERO.view(np.float32), operand))
            if not (operand.negated or operand.absolute):
                return lambda m: m.registers[index].view(np.float32)
            return lambda m: _signed_real(m.registers[index].view(np.float32), operand)
        if isinstance(operand, SassConstant):
            plain = np.array([self.constant(operand.bank, operand.offset)], np.uint32)
            return _fixed(_signed_real(plain.view(np.float32), operand))
        return _fixed(self._fixed_word(operand).view(np.float32))

    def pair(self, operand: Operand) -> Reader:
        """A 64-bit integer in two registers, the lower half in the first."""
        if isinstance(operand, SassRegister):
            index = register_index(operand)
            if index < 0:
                return _fixed(np.zeros(1, np.uint64))
            if operand.negated:
                return lambda m: np.negative(_joined_halves(m.registers[index], m.registers[index + 1]))
            return lambda m: _joined_halves(m.registers[index], m.registers[index + 1])
        if isinstance(operand, SassConstant) and operand.register is None:
            return _fixed(np.array([self.constant(operand.bank, operand.offset, 8)], np.uint64))
        if isinstance(operand, Integer):
            return _fixed(np.array([operand.value & (MASK << 32 | MASK)], np.uint64))
        raise self.unknown()

    def double(self, operand: Operand) -> Reader:
        """A float64 in two registers."""
        if isinstance(operand, Real):
            return _fixed(np.array([operand.value], np.float64))
        if not isinstance(operand, SassRegister | SassConstant):
            raise self.unknown()
        plain = self.pair(operand.without_signs())
        if operand.negated or operand.absolute:
            return lambda m: _signed_real(plain(m).view(np.float64), operand)
        return lambda m: plain(m).view(np.float64)

    def truth(self, operand: Operand) -> Reader:
        """A predicate, perhaps inverted."""
        if not isinstance(operand, SassRegister):
            raise self.unknown()
        index = predicate_index(operand)
        if index < 0:
            return _fixed(FALSE if operand.inverted else TRUE)
        if operand.inverted:
            return lambda m: ~m.predicates[index]
        return lambda m: m.predicates[index]

    def split(self, sources: int) -> tuple[int, tuple[int, ...], tuple[Operand, ...], tuple[Operand, ...]]:
        """The operands: the written register, the written predicates, ``sources`` sources, the rest."""
        first, *rest = self.operands
        written = []
        while rest and is_predicate(rest[0]) and len(rest) > sources:
            written.append(predicate_index(rest.pop(0)))
        return register_index(first), tuple(written), tuple(rest[:sources]), tuple(rest[sources:])


def is_predicate(operand: Operand) -> bool:
    """True if an operand is a predicate."""
    return isinstance(operand, SassRegister) and operand.file in ("P", "UP")


def register_index(operand: Operand) -> int:
    """Index of a register in `Machine.registers`; -1 for RZ."""
    if not isinstance(operand, SassRegister) or operand.file not in ("R", "UR"):
        raise UnknownCodeError(str(operand))
    return operand.index + UNIFORM if operand.file == "UR" and operand.index >= 0 else operand.index


def predicate_index(operand: Operand) -> int:
    """Index of a predicate in `Machine.predicates`; -1 for PT."""
    if not isinstance(operand, SassRegister):
        raise UnknownCodeError(str(operand))
    uniform = operand.file == "UP" and operand.index >= 0
    return operand.index + UNIFORM_PREDICATES if uniform else operand.index


def write_pair(m: SassMachine, register: int, value: NDArray[np.uint64]) -> None:
    """Write 64 bits to two registers."""
    if register >= 0:
        halves = value.view(np.uint32)
        m.write(register, halves[0::2].copy())
        m.write(register + 1, halves[1::2].copy())


def _joined_halves(low: NDArray[np.uint32], high: NDArray[np.uint32]) -> NDArray[np.uint64]:
    pairs = np.empty(max(low.size, high.size), np.uint64)
    halves = pairs.view(np.uint32)
    halves[0::2], halves[1::2] = low, high
    return pairs


def _fixed(value: NDArray[Any]) -> Reader:
    return lambda _: value


def _signed_word(value: NDArray[np.uint32], operand: SassRegister | SassConstant) -> NDArray[np.uint32]:
    if operand.negated:
        return np.negative(value)
    return ~value if operand.inverted else value


def _signed_real(value: NDArray[Any], operand: SassRegister | SassConstant) -> NDArray[Any]:
    value = np.abs(value) if operand.absolute else value
    return -value if operand.negated else value
