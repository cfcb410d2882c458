"""Interface of instruction chapters to make a step: types of steps, `Link`, special registers, guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from grader.base.errors import PtxSyntaxError, UnsupportedPtx
from grader.base.records import frozen
from grader.simulation.emulator.linking.provenance import only_copies
from grader.simulation.emulator.machine.geometry import RESERVED, RESERVED_BYTES, SMS
from grader.simulation.emulator.machine.values import (
    DTYPES,
    FALSE,
    FOLDED,
    TRUE,
    Lanes,
    Value,
    over_folds,
    scalar,
)
from grader.simulation.ptx import Address, Immediate, Register, Symbol
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from grader.simulation.emulator.linking.program import Program
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Group
    from grader.simulation.ptx import Function, Instruction, Operand

Step: TypeAlias = "Callable[[Machine], None]"
"""Executes one instruction for the machine's active lanes."""

ControlStep: TypeAlias = "Callable[[Machine, Group], list[Group] | None]"
"""Executes an instruction that decides where to go on: None if the group goes on at its (new) ``pc``,
else the groups that go on, none of them if its lanes exited or wait."""

Fetch: TypeAlias = "Callable[[Machine, Lanes], Value]"
"""Gives an operand's value for some lanes."""


_MOST_BYTES = 8
"""A register of 128 bits is not interpreted."""


class Form(NamedTuple):
    """Meaning of the modifiers of an instruction: type, state space (empty: generic), and all other words."""

    kind: str
    space: str
    words: frozenset[str]


@frozen(eq=False)
class FunctionScope:
    """A function that is being linked: registers and labels by name, and where local variables lie."""

    program: Program
    function: Function
    registers: Mapping[str, int]
    types: Mapping[str, str]
    labels: Mapping[str, int]
    local_offsets: dict[str, int]
    used: frozenset[str]
    """The registers that anything but a store reads; see `registers_used`."""


@frozen
class Link:
    """Information that an instruction chapter may ask for while it makes a step."""

    scope: FunctionScope
    pc: int
    instruction: Instruction

    @property
    def program(self) -> Program:
        """The program that is being linked."""
        return self.scope.program

    def unsupported(self) -> UnsupportedPtx:
        """The refusal of this instruction: our limit, not the student's mistake."""
        ins = self.instruction
        return UnsupportedPtx(ins.name, ins.ptx_line, self.program.sources(ins))

    def form(
        self, types: Collection[str], accepts: Collection[str] = (), spaces: Collection[str] = ()
    ) -> Form:
        """The form of this instruction, whose last modifier is one of ``types``.

        Any other modifier is a state space out of ``spaces``, with or without a part such as ``::cta``, or is
        among the words that the chapter ``accepts``. Raises UnsupportedPtx for one that is neither.
        """
        *words, kind = self.instruction.modifiers
        named = [word for word in words if word.split("::")[0] in spaces]
        others = frozenset(words).difference(named)
        if kind not in types or not others <= set(accepts):
            raise self.unsupported()
        return Form(kind, named[-1].split("::")[0] if named else "", others)

    def site(self) -> int:
        """A number for this instruction, to report it by."""
        self.program.sites.append(self.instruction)
        origins = self.program.provenance().of_access(self.scope.function, self.instruction)
        self.program.origins.append((origins, self.scope.local_offsets))
        number = len(self.program.sites) - 1
        if only_copies(self.instruction, self.scope.used):
            self.program.copies.add(number)
        return number

    def target(self, operand: Operand) -> int:
        """The index of the instruction that a label stands before."""
        if isinstance(operand, Symbol) and operand.name in self.scope.labels:
            return self.scope.labels[operand.name]
        raise PtxSyntaxError(f"PTX line {self.instruction.ptx_line}: no such label")

    def targets(self, operand: Operand) -> tuple[int, ...]:
        """The indices of the instructions that a list of labels names."""
        lists = dict(self.scope.function.targets)
        if not isinstance(operand, Symbol) or operand.name not in lists:
            raise self.unsupported()
        return tuple(self.target(Symbol(label)) for label in lists[operand.name])

    def register(self, operand: Operand) -> int:
        """The number of a destination register; -1 for the sink ``_``."""
        if isinstance(operand, Register) and operand.name in self.scope.registers:
            return self.scope.registers[operand.name]
        if isinstance(operand, Symbol) and operand.name == "_":
            return -1
        raise self.unsupported()

    def is_declared(self, operand: Register) -> bool:
        """True if it is a register of the function, and not a special one."""
        return operand.name in self.scope.registers

    def register_type(self, operand: Operand) -> str:
        """The declared type of a register."""
        if isinstance(operand, Register):
            return self.scope.types.get(operand.name, "b32")
        raise self.unsupported()

    def guard(self) -> Fetch:
        """The instruction's own predicate; it may come folded."""
        if self.instruction.guard is None:
            raise self.unsupported()
        return self.operand(self.instruction.guard, "pred")

    def fetch(self, operand: Operand, kind: str) -> Fetch:
        """Reads an operand as PTX type ``kind``: an element per lane, or a scalar."""
        read = self.operand(operand, kind)
        if not isinstance(operand, Register):
            return read

        def flat(machine: Machine, lanes: Lanes) -> Value:
            value = read(machine, lanes)
            return value if value.ndim != FOLDED else machine.memo.unfold(value)

        return flat

    def operand(self, operand: Operand, kind: str) -> Fetch:
        """Reads an operand as PTX type ``kind``; it may come folded (`emulator.machine.values`)."""
        if TYPE_BYTES[kind] > _MOST_BYTES:
            raise self.unsupported()
        dtype = DTYPES.get(kind) or np.dtype(f"u{TYPE_BYTES[kind]}")
        if isinstance(operand, Immediate):
            return _constant(_literal(operand, dtype))
        if isinstance(operand, Symbol):
            return self.symbol(operand, dtype)
        if isinstance(operand, Register):
            if operand.name in self.scope.registers:
                return self.read(self.scope.registers[operand.name], dtype, negated=operand.negated)
            return self.special(operand.name, dtype)
        raise self.unsupported()

    def read(self, number: int, dtype: np.dtype[Any], *, negated: bool) -> Fetch:
        """Reads a register."""
        instruction = self.instruction

        def read(machine: Machine, lanes: Lanes) -> Value:
            value = machine.registers[number]
            if value is None:
                value = machine.unset(dtype, instruction, number)
            elif value.dtype is not dtype:
                if value.dtype.itemsize == dtype.itemsize:
                    value = machine.registers[number] = value.view(dtype)  # bits have no type (section 4.5)
                else:  # a wider register read by a narrower instruction: its low bits (section 9.4.1)
                    value = value.view(f"u{value.dtype.itemsize}").astype(f"u{dtype.itemsize}").view(dtype)
            return value if lanes is None or value.ndim == 0 else machine.memo.pick(value, lanes)

        if negated:
            return lambda machine, lanes: np.logical_not(read(machine, lanes))
        return read

    def symbol(self, operand: Symbol, dtype: np.dtype[Any]) -> Fetch:
        """The address of a variable, or of a function: an offset in its own space, as ``mov`` gives it."""
        name, offset = operand.name, operand.offset
        if name in self.scope.local_offsets:
            start = self.scope.local_offsets[name] + offset
            return lambda machine, _lanes: dtype.type(machine.frame.local + start)
        if name in self.program.addresses:
            return _constant(_literal(Immediate(self.program.addresses[name] + offset), dtype))
        raise self.unsupported()

    def special(self, name: str, dtype: np.dtype[Any]) -> Fetch:
        """A special register (PTX ISA chapter 10)."""
        read = _special(name, dtype)
        if read is None:
            ins = self.instruction
            raise UnsupportedPtx(f"{ins.name} of {name}", ins.ptx_line, self.program.sources(ins))
        return read

    def address(self, operand: Operand, bits: int = 64) -> Fetch:
        """The address in ``[base + offset]`` as signed 64-bit bytes in the space the instruction names."""
        if not isinstance(operand, Address):
            raise self.unsupported()
        if isinstance(operand.base, Register):
            kind = "s64" if TYPE_BYTES[self.register_type(operand.base)] == 8 else "s32"  # noqa: PLR2004
            read, offset = self.fetch(operand.base, kind), np.int64(operand.offset)
            if kind == "s32":  # so that the sum wraps at 32 bits
                return lambda machine, lanes: read(machine, lanes).astype(np.int64) + offset
            return (lambda machine, lanes: read(machine, lanes) + offset) if offset else read
        if isinstance(operand.base, Immediate):
            return _constant(_literal(Immediate(operand.base.value + operand.offset), np.dtype(np.int64)))
        return self.fetch(Symbol(operand.base.name, operand.base.offset + operand.offset), f"s{bits}")

    def pure(self, function: Callable[..., Value], *kinds: str) -> Step:
        """A step that computes the first operand from the others, read as ``kinds``, lane by lane."""
        operands = self.instruction.operands
        register = self.register(operands[0])
        sources = [self.operand(operand, kind) for operand, kind in zip(operands[1:], kinds, strict=True)]
        if len(sources) == 1:
            return _unary(register, function, sources[0])
        if len(sources) == 2:  # noqa: PLR2004 - arity
            return _binary(register, function, *sources)

        def step(m: Machine) -> None:
            values = tuple(source(m, m.compute_mask) for source in sources)
            if FOLDED in [value.ndim for value in values]:
                m.registers[register] = over_folds(function, values, m.shape)
            else:
                m.write(register, function(*values))

        return step


def _unary(register: int, function: Callable[..., Value], only: Fetch) -> Step:
    def step(m: Machine) -> None:
        value = only(m, m.compute_mask)
        if value.ndim == FOLDED:
            m.registers[register] = function(value.reshape(-1)).reshape(value.shape)
        else:
            m.write(register, function(value))

    return step


def _binary(register: int, function: Callable[..., Value], first: Fetch, second: Fetch) -> Step:
    direct = isinstance(function, np.ufunc)

    def step(m: Machine) -> None:
        lanes = m.compute_mask
        a, b = first(m, lanes), second(m, lanes)
        if lanes is not None:
            m.write(register, function(a, b))
        elif a.ndim != FOLDED != b.ndim:
            m.registers[register] = function(a, b)
        elif direct and a.ndim != 1 and b.ndim != 1:
            value = function(a, b)
            m.registers[register] = value if value.size < m.size else value.reshape(-1)
        else:
            m.registers[register] = over_folds(function, (a, b), m.shape)

    return step


def _constant(value: Value) -> Fetch:
    return lambda _machine, _lanes: value


def _literal(operand: Immediate, dtype: np.dtype[Any]) -> Value:
    if operand.kind == "f64" and dtype == np.float32:  # a decimal literal in a .f32 instruction
        return scalar(np.float32(np.uint64(operand.value).view(np.float64)))
    if dtype == np.bool_:
        return TRUE if operand.value else FALSE
    bits = np.array(operand.value & (2 ** (8 * dtype.itemsize) - 1), f"u{dtype.itemsize}")
    return bits.view(dtype)[()]


OF_LANES = frozenset(
    {f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"}
    | {f"%lanemask_{relation}" for relation in ("eq", "le", "lt", "ge", "gt")}
    | {"%laneid", "%warpid", "%nwarpid", "%smid", "%gridid"}
)
"""Special registers that the machine holds for its lanes."""

_CLOCKS = {
    "%clock": 0,
    "%clock64": 0,
    "%clock_hi": 32,
    "%globaltimer": 0,
    "%globaltimer_lo": 0,
    "%globaltimer_hi": 32,
}
"""Number of bits by which the ticks are shifted to the right."""

_EPOCH = 1_700_000_000 * 10**9
"""Offset added to the ticks of the global timer, which counts nanoseconds since 1970."""

FIXED = {
    "%nsmid": SMS,
    **{f"%reserved_smem_offset_{which}": RESERVED for which in ("begin", "0")},
    "%reserved_smem_offset_1": RESERVED + RESERVED_BYTES // 2,
    "%reserved_smem_offset_end": RESERVED + RESERVED_BYTES,
    "%reserved_smem_offset_cap": RESERVED_BYTES,
    "%is_explicit_cluster": 0,
    "%cluster_ctarank": 0,
    "%cluster_nctarank": 1,
    **{f"%cluster_ctaid.{axis}": 0 for axis in "xyz"},
    **{f"%cluster_nctaid.{axis}": 1 for axis in "xyz"},
}
"""No launch here has clusters of more than one block. From offset 1 on the headers of cooperative groups keep
the barriers of tiles of several warps (``cooperative_groups/details/memory.h``)."""

_SHARED_SIZES = {"%total_smem_size": 0, "%aggr_smem_size": RESERVED_BYTES}
"""Bytes added to the shared memory of the program."""

_WORKSPACE = {"%envreg1": 32, "%envreg2": 0}
"""Number of bits by which the address of the workspace that the blocks of a cooperative launch share is
shifted to the right (CUDA's ``cooperative_groups/details/driver_abi.h``)."""

SAME = {
    **{f"%clusterid.{axis}": f"%ctaid.{axis}" for axis in "xyz"},
    **{f"%nclusterid.{axis}": f"%nctaid.{axis}" for axis in "xyz"},
}
"""Every block is a cluster of its own."""


def _special(name: str, dtype: np.dtype[Any]) -> Fetch | None:
    """Reads a special register; None for one that is not interpreted. It may give folded values."""
    if name in _CLOCKS:
        ones = 2 ** (8 * dtype.itemsize) - 1
        start = _EPOCH if name.startswith("%globaltimer") else 0
        return lambda machine, _lanes: dtype.type(start + machine.ticks() >> _CLOCKS[name] & ones)
    if name in FIXED:
        fixed = dtype.type(FIXED[name])
        return lambda _machine, _lanes: fixed
    if name in _WORKSPACE:
        shift, mask = _WORKSPACE[name], 2**32 - 1
        return lambda machine, _lanes: dtype.type(machine.memory.workspace >> shift & mask)
    if name == "%dynamic_smem_size":
        return lambda machine, _lanes: dtype.type(machine.geometry.launch.shared_bytes)
    if name in _SHARED_SIZES:
        more = _SHARED_SIZES[name]
        return lambda machine, _lanes: dtype.type(machine.shared_bytes + more)
    return _of_lanes(SAME.get(name, name), dtype)


def _of_lanes(name: str, dtype: np.dtype[Any]) -> Fetch | None:
    if name not in OF_LANES:
        return None

    def read(machine: Machine, lanes: Lanes) -> Value:
        value = machine.special[name]
        if value.dtype.itemsize != dtype.itemsize:
            value = value.astype(dtype)
        return machine.memo.pick(value.view(dtype), lanes)

    return read


def guarded(step: Step, guard: Fetch, flops: int) -> Step:
    """``@p`` before an instruction that does not decide where to go on (section 9.3)."""

    def step_if(machine: Machine) -> None:
        condition = guard(machine, machine.active)
        active, compute_mask = machine.active, machine.compute_mask
        if condition.ndim == 0:
            chosen = active if condition else None
            if not condition:
                return
        else:
            taken = np.flatnonzero(machine.memo.unfold(condition))
            if not taken.size:
                return
            chosen = taken if active is None else active[taken]
        machine.active = machine.compute_mask = chosen
        step(machine)
        machine.observer.count_flops(flops * machine.count)
        machine.active, machine.compute_mask = active, compute_mask

    return step_if


def guarded_control(step: ControlStep, guard: Fetch, pc: int) -> ControlStep:
    """``@p ret`` and the like: the lanes whose predicate holds execute it, the others go on."""

    def step_if(machine: Machine, group: Group) -> list[Group] | None:
        taken, others = machine.split(group, guard(machine, machine.active))
        if others is not None:
            others.pc = pc + 1
        if taken is None:
            group.pc = pc + 1
            return None
        if others is None:
            return step(machine, group)
        machine.active = machine.compute_mask = taken.lanes
        more = step(machine, taken)
        return [others, *([taken] if more is None else more)]

    return step_if
