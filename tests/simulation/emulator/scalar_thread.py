"""One thread of the scalar interpreter: an instruction at a time, its registers as bits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.simulation.ptx import Address, Immediate, Instruction, Pair, Register, Symbol, Vector
from grader.simulation.ptx.nodes import TYPE_BYTES
from tests.simulation.emulator import scalar_bits as bits
from tests.simulation.emulator import scalar_numbers as numbers
from tests.simulation.emulator import scalar_warps as warps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.simulation.ptx import Function, Operand

SHARED, LOCAL = 1 << 44, 1 << 45
WINDOWS = {"shared": SHARED, "local": LOCAL}
"""Starts of the state spaces among the generic addresses."""


@dataclass(eq=False)
class Thread:
    """One thread: its registers as bits, and the memory it sees by where each piece begins."""

    function: Function
    registers: dict[str, int]
    memory: dict[int, bytearray]
    parameters: dict[str, bytearray]
    addresses: dict[str, int]
    types: dict[str, str] = field(default_factory=dict)
    pc: int = 0
    linear: int = 0
    carry: int = 0
    waits_for: Instruction | None = None

    def __post_init__(self) -> None:
        """Give local variables their place."""
        self.types = dict(self.function.registers)
        self.addresses, end = dict(self.addresses), 0
        for variable in self.function.variables:
            if variable.space == "local":
                end = -(-end // variable.align) * variable.align
                self.addresses[variable.name] = end
                end += variable.size
        self.memory[LOCAL] = bytearray(end)

    def until_it_waits(self) -> Iterator[Instruction]:
        """Run; yields each instruction at which it waits for others."""
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
            elif ins.opcode in ("bar", "barrier", *warps.TOGETHER):
                yield ins
            else:
                self.execute(ins)

    def execute(self, ins: Instruction) -> None:
        """One instruction that goes on to the next."""
        special = getattr(self, f"do_{ins.opcode}", None)
        if special and not {"cc", "f16x2"} & set(ins.modifiers):
            special(ins)
            return
        self.write(ins.operands[0], self.result(ins))

    def result(self, ins: Instruction) -> int:
        """The bits of a result that only depends on the operands, and on the carry."""
        kind, operands = ins.modifiers[-1], ins.operands[1:]
        if ins.opcode in bits.OPERATIONS:
            operation, kinds = bits.OPERATIONS[ins.opcode]
            pairs = zip(operands, kinds, strict=True)
            return operation(*(self.read(operand, each or kind) for operand, each in pairs), kind)
        if kind == "f16x2":
            return bits.packed(ins.opcode, [self.read(operand, "b32") for operand in operands])
        values = [self.read(operand, kind) for operand in operands]
        if ins.opcode in ("addc", "subc", "madc") or "cc" in ins.modifiers:
            result, self.carry = bits.carried(ins, values, self.carry)
            return numbers.wrapped(result, kind)
        if kind[0] == "f":
            values = [self.flushed(ins, operand) for operand in operands]
            reals = [numbers.to_float(value, kind) for value in values]
            return numbers.finished(
                ins.modifiers, numbers.float_result(ins.opcode, reals, values, kind), kind
            )
        signed = [numbers.number(value, kind) for value in values]
        return numbers.wrapped(numbers.integer_result(ins.opcode, signed, kind), kind)

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
        window = next((WINDOWS[word] for word in ins.modifiers if word in WINDOWS), 0)
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

    def do_shf(self, ins: Instruction) -> None:
        """Section 9.7.8.10."""
        low, high, by = (self.read(operand, "u32") for operand in ins.operands[1:])
        self.write(ins.operands[0], bits.funnel(ins, low, high, by))

    def do_atom(self, ins: Instruction) -> None:
        """Section 9.7.13.6 (`red`, 9.7.13.8, gives nothing back)."""
        at = 1 if ins.opcode == "atom" else 0
        kind, content, start = self.place(ins, ins.operands[at])
        size = TYPE_BYTES[kind]
        old = int.from_bytes(content[start : start + size], "little")
        new = bits.atomic(ins, old, [self.read(operand, kind) for operand in ins.operands[at + 1 :]])
        content[start : start + size] = new.to_bytes(size, "little")
        if at:
            self.write(ins.operands[0], old)

    do_red = do_atom

    def place(self, ins: Instruction, address: Operand) -> tuple[str, bytearray, int]:
        """Type of an access, the piece of memory it goes to, and the byte in it."""
        assert isinstance(address, Address)
        kind, base = ins.modifiers[-1], address.base
        if "param" in ins.modifiers:
            assert isinstance(base, Symbol)
            return kind, self.parameters[base.name], base.offset + address.offset
        value = address.offset + self.read(base, "u64")
        value += next((WINDOWS[word] for word in ins.modifiers if word in WINDOWS), 0)
        start = max(start for start in self.memory if start <= value)
        return kind, self.memory[start], value - start
