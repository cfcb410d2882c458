"""PTX one thread at a time: the definition that the vectorised emulator is held against.

Written from the PTX ISA (9.0) for plainness: a register holds its bits as a Python int, each operation is
exact on integers or fractions, a thread runs until it waits at a barrier or ends, blocks run one by one.
Nothing here looks for mistakes: programs must stay in bounds and set what they read.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product as every
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.ptx.nodes import (
    TYPE_BYTES,
    Address,
    Immediate,
    Instruction,
    Pair,
    Register,
    Symbol,
    Vector,
)
from tests.emulator import scalar_numbers as numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.model import Argument, Dim3, Launch
    from grader.ptx import Function, Module, Operand

_GLOBAL, _SHARED, _LOCAL = 1 << 40, 1 << 44, 1 << 45
_SPACING = 1 << 36
_WINDOWS = {"shared": _SHARED, "local": _LOCAL}


def run(
    module: Module, entry: str, launch: Launch, arguments: tuple[Argument, ...]
) -> dict[str, np.ndarray[Any, Any]]:
    """What the arrays hold after a launch, by the names of the arguments."""
    function = module.function(entry)
    parameters, arrays = {}, {}
    for place, (formal, argument) in enumerate(zip(function.parameters, arguments, strict=True)):
        if isinstance(argument.value, np.ndarray):
            base = _GLOBAL + place * _SPACING
            arrays[base] = (argument, bytearray(argument.value.tobytes()))
            parameters[formal.name] = bytearray(base.to_bytes(8, "little"))
        else:
            parameters[formal.name] = bytearray(argument.value.tobytes())
    memory = {base: content for base, (_, content) in arrays.items()}
    for block in _indices(launch.grid):
        _run_block(module, function, launch, block, memory, parameters)
    return {
        argument.name: np.frombuffer(bytes(content), argument.value.dtype).reshape(argument.value.shape)
        for argument, content in arrays.values()
    }


def _indices(extents: Dim3) -> Iterator[Dim3]:
    x, y, z = extents
    for c, b, a in every(range(z), range(y), range(x)):
        yield a, b, c


def _run_block(
    module: Module,
    function: Function,
    launch: Launch,
    block: Dim3,
    memory: dict[int, bytearray],
    parameters: dict[str, bytearray],
) -> None:
    addresses, end = {}, 0
    for variable in (*module.variables, *function.variables):
        if variable.space == "shared":
            end = -(-end // variable.align) * variable.align
            addresses[variable.name] = end
            end += variable.size
    memory = {**memory, _SHARED: bytearray(end + launch.shared_bytes)}
    threads = [
        _Thread(
            function, _special(launch, block, thread), memory | {_LOCAL: bytearray()}, parameters, addresses
        )
        for thread in _indices(launch.block)
    ]
    waiting = [thread.until_barrier() for thread in threads]
    while waiting:
        waiting = [each for each in waiting if next(each, None)]


def _special(launch: Launch, block: Dim3, thread: Dim3) -> dict[str, int]:
    named = {"tid": thread, "ctaid": block, "ntid": launch.block, "nctaid": launch.grid}
    return {
        f"%{name}.{axis}": value
        for name, index in named.items()
        for axis, value in zip("xyz", index, strict=True)
    }


@dataclass(eq=False)
class _Thread:
    """One thread: its registers as bits, and the memory it sees by where each piece begins."""

    function: Function
    registers: dict[str, int]
    memory: dict[int, bytearray]
    parameters: dict[str, bytearray]
    addresses: dict[str, int]
    types: dict[str, str] = field(default_factory=dict)
    pc: int = 0

    def __post_init__(self) -> None:
        """Give local variables their place."""
        self.types = dict(self.function.registers)
        self.addresses, end = dict(self.addresses), 0
        for variable in self.function.variables:
            if variable.space == "local":
                end = -(-end // variable.align) * variable.align
                self.addresses[variable.name] = end
                end += variable.size
        self.memory[_LOCAL] = bytearray(end)

    def until_barrier(self) -> Iterator[bool]:
        """Run; yields True at each barrier."""
        labels = dict(self.function.labels)
        while True:
            ins = self.function.body[self.pc]
            self.pc += 1
            if ins.guard and not self.read(ins.guard, "pred"):
                continue
            if ins.opcode in ("ret", "exit"):
                return
            if ins.opcode == "bra":
                target = ins.operands[0]
                assert isinstance(target, Symbol)
                self.pc = labels[target.name]
            elif ins.opcode in ("bar", "barrier"):
                yield True
            else:
                self.execute(ins)

    def execute(self, ins: Instruction) -> None:
        """One instruction that goes on to the next."""
        special = getattr(self, f"do_{ins.opcode}", None)
        if special:
            special(ins)
            return
        kind = ins.modifiers[-1]
        if kind[0] == "f":
            operands = [self.read(operand, kind) for operand in ins.operands[1:]]
            if "ftz" in ins.modifiers:
                operands = [numbers.flushed(operand, kind) for operand in operands]
            result = numbers.float_result(
                ins.opcode, [numbers.to_float(o, kind) for o in operands], operands, kind
            )
            self.write(ins.operands[0], numbers.finished(ins.modifiers, result, kind))
            return
        values = [numbers.number(self.read(operand, kind), kind) for operand in ins.operands[1:]]
        self.write(ins.operands[0], numbers.wrapped(numbers.integer_result(ins.opcode, values, kind), kind))

    def read(self, operand: Operand, kind: str) -> int:
        """The bits of an operand."""
        if isinstance(operand, Register):
            return numbers.wrapped(self.registers.get(operand.name, 0), kind) ^ operand.negated
        if isinstance(operand, Immediate):
            if operand.kind == "f64" and kind == "f32":
                return numbers.from_float(numbers.to_float(operand.value, "f64"), "f32")
            return numbers.wrapped(operand.value, kind)
        assert isinstance(operand, Symbol)
        return self.addresses[operand.name] + operand.offset

    def write(self, register: Operand, bits: int, kind: str = "") -> None:
        """Set a register; a narrower result of a load or conversion is extended (section 9.4.1)."""
        assert isinstance(register, Register | Symbol)
        if kind[:1] == "s":
            bits = numbers.number(bits, kind)
        if isinstance(register, Register):
            self.registers[register.name] = numbers.wrapped(bits, self.types[register.name])

    def do_mov(self, ins: Instruction) -> None:
        """Section 9.7.9.1; packing and unpacking put the first element lowest."""
        kind, (to, source) = ins.modifiers[-1], ins.operands
        if isinstance(source, Vector):
            piece = numbers.width(kind) // len(source.elements)
            values = [self.read(element, f"b{piece}") for element in source.elements]
            self.write(to, sum(value << (place * piece) for place, value in enumerate(values)))
        elif isinstance(to, Vector):
            piece, value = numbers.width(kind) // len(to.elements), self.read(source, kind)
            for place, element in enumerate(to.elements):
                self.write(element, numbers.wrapped(value >> (place * piece), f"b{piece}"))
        else:
            self.write(to, self.read(source, kind))

    def do_cvta(self, ins: Instruction) -> None:
        """Section 9.7.9.20: between an address in a state space and a generic one."""
        window = next((_WINDOWS[word] for word in ins.modifiers if word in _WINDOWS), 0)
        address = self.read(ins.operands[1], "u64")
        self.write(ins.operands[0], address - window if "to" in ins.modifiers else address + window)

    def do_setp(self, ins: Instruction) -> None:
        """Section 9.7.6.2: compare, then combine with a predicate; ``p|q`` also gives the negation."""
        relation, *middle, kind = ins.modifiers
        bits = [self.read(operand, kind) for operand in ins.operands[1:3]]
        if "ftz" in middle:
            bits = [numbers.flushed(each, kind) for each in bits]
        decode: Callable[[int, str], float] = numbers.to_float if kind[0] == "f" else numbers.number
        holds = int(numbers.compare(relation, *(decode(each, kind) for each in bits)))
        results = [holds, 1 - holds]
        if logic := next((word for word in middle if word in numbers.LOGIC), None):
            third = self.read(ins.operands[3], "pred")
            results = [numbers.LOGIC[logic](each, third) for each in results]
        to = ins.operands[0]
        for register, result in zip(
            (to.first, to.second) if isinstance(to, Pair) else (to,), results, strict=False
        ):
            self.write(register, result)

    def do_selp(self, ins: Instruction) -> None:
        """Section 9.7.6.3."""
        to, first, second, predicate = ins.operands
        self.write(to, self.read(first if self.read(predicate, "pred") else second, ins.modifiers[-1]))

    def do_mul(self, ins: Instruction) -> None:
        """Section 9.7.1.3 (`mad`, 9.7.1.4): the low half, the high half or all of the product, plus c."""
        kind = ins.modifiers[-1]
        if kind[0] == "f":
            a, b, *c = (numbers.to_float(self.flushed(ins, operand), kind) for operand in ins.operands[1:])
            result = numbers.multiply_add(a, b, c[0], kind) if c else numbers.product(a, b, kind)
            self.write(ins.operands[0], numbers.finished(ins.modifiers, result, kind))
            return
        full = math.prod(numbers.number(self.read(operand, kind), kind) for operand in ins.operands[1:3])
        wide = f"{kind[0]}{2 * numbers.width(kind)}" if "wide" in ins.modifiers else kind
        full = full >> numbers.width(kind) if "hi" in ins.modifiers else full
        added = self.read(ins.operands[3], wide) if len(ins.operands) > 3 else 0
        self.write(ins.operands[0], numbers.wrapped(full + added, wide))

    do_mad = do_fma = do_mul

    def flushed(self, ins: Instruction, operand: Operand) -> int:
        """A floating-point operand, with ``.ftz`` done."""
        bits = self.read(operand, ins.modifiers[-1])
        return numbers.flushed(bits, ins.modifiers[-1]) if "ftz" in ins.modifiers else bits

    def do_shl(self, ins: Instruction) -> None:
        """Section 9.7.8.8 (`shr`, 9.7.8.9): amounts above the width count as the width."""
        kind = ins.modifiers[-1]
        value, by = numbers.number(self.read(ins.operands[1], kind), kind), self.read(ins.operands[2], "u32")
        by = min(by, numbers.width(kind))
        self.write(
            ins.operands[0], numbers.wrapped(value << by if ins.opcode == "shl" else value >> by, kind)
        )

    do_shr = do_shl

    def do_cvt(self, ins: Instruction) -> None:
        """Section 9.7.9.21."""
        *how, to, source = ins.modifiers
        self.write(
            ins.operands[0], numbers.converted(self.read(ins.operands[1], source), how, to, source), to
        )

    def do_ld(self, ins: Instruction) -> None:
        """Section 9.7.9.8."""
        to, source = ins.operands
        elements = to.elements if isinstance(to, Vector) else (to,)
        kind, content, start = self.place(ins, source)
        for place, element in enumerate(elements):
            first = start + place * TYPE_BYTES[kind]
            self.write(element, int.from_bytes(content[first : first + TYPE_BYTES[kind]], "little"), kind)

    def do_st(self, ins: Instruction) -> None:
        """Section 9.7.9.11."""
        to, source = ins.operands
        elements = source.elements if isinstance(source, Vector) else (source,)
        kind, content, start = self.place(ins, to)
        for place, element in enumerate(elements):
            first = start + place * TYPE_BYTES[kind]
            content[first : first + TYPE_BYTES[kind]] = self.read(element, kind).to_bytes(
                TYPE_BYTES[kind], "little"
            )

    def place(self, ins: Instruction, address: Operand) -> tuple[str, bytearray, int]:
        """Type of an access, the piece of memory it goes to, and the byte in it."""
        assert isinstance(address, Address)
        kind, base = ins.modifiers[-1], address.base
        if "param" in ins.modifiers:
            assert isinstance(base, Symbol)
            return kind, self.parameters[base.name], base.offset + address.offset
        value = address.offset + self.read(base, "u64")
        value += next((_WINDOWS[word] for word in ins.modifiers if word in _WINDOWS), 0)
        start = max(start for start in self.memory if start <= value)
        return kind, self.memory[start], value - start
