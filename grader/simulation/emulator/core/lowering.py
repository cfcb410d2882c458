"""Lowering: a kernel, with the functions that it calls, to the operations of the core.

Calls are inlined, so that a launch is one list of operations over one set of registers. A register of up to
32 bits has 4 bytes for each lane, one of 64 bits 8, a predicate 1. Numbers, addresses and parameters are
constants, each with a copy for each lane; those that differ from launch to launch are the
`launch_constants` of a `LoweredKernel`.

A read of a register that some way through the kernel has not set is refused, and so is whatever has no form
here: where a lane gets there, the launch goes to the other engine.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from grader.base.records import frozen, mutable
from grader.simulation.emulator.core.forms import WIDTH
from grader.simulation.emulator.core.library import CONSTANT, NONE, OP, codes
from grader.simulation.emulator.core.operations import NOTED, CoreOperation
from grader.simulation.emulator.core.optimisation import optimise
from grader.simulation.emulator.core.registers import Marks, with_checks
from grader.simulation.emulator.linking.link import FIXED, SAME
from grader.simulation.emulator.linking.linker import local_layout
from grader.simulation.emulator.linking.program import caller_of_header, within
from grader.simulation.emulator.linking.provenance import only_copies, registers_used
from grader.simulation.emulator.naming import Names
from grader.simulation.ptx import Immediate, Register, Symbol
from grader.simulation.ptx.facts import COUNTED
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.program import Program
    from grader.simulation.ptx import Function, Instruction, Location
    from grader.simulation.ptx.nodes import Operand

LANES = 32

MOST_OPERATIONS = 20_000
"""Operations of a kernel with what it calls; beyond them it is not lowered."""

MOST_REGISTER_BYTES = 1 << 20
"""Bytes of the registers of a warp; 8,192 registers of 32 bits take as many."""

MOST_CALLS = 8
"""Calls inside calls that are inlined."""

SPECIALS = (
    *(f"%{name}.{axis}" for name in ("tid", "ntid", "ctaid", "nctaid") for axis in "xyz"),
    *("%laneid", "%warpid", "%nwarpid"),
    *(f"%lanemask_{relation}" for relation in ("eq", "lt", "le", "gt", "ge")),
    "%smid",
)
"""The special registers that the core sets, in its order (PTX ISA chapter 10)."""


class NotLoweredError(Exception):
    """The kernel has an instruction that the core does not execute: its name."""


class LaunchConstant(NamedTuple):
    """A constant that differs from launch to launch: a parameter, or the window of a state space."""

    offset: int
    """Offset in the constants."""
    width: int
    window: str = ""
    parameter: str = ""
    at: int = 0
    """Bytes from the beginning of the parameter."""
    kind: str = ""


@frozen(eq=False)
class LoweredKernel:
    """A kernel as the core takes it."""

    program: Program
    ops: NDArray[np.void]
    constants: NDArray[np.uint8]
    launch_constants: tuple[LaunchConstant, ...]
    register_bytes: int
    specials: Mapping[str, int]
    """Offsets of the special registers that it reads."""
    local_starts: tuple[int, ...]
    """For each site where the local memory of its function begins."""
    local_bytes: int
    counted_instructions: Mapping[int, tuple[str, int]]
    """The instruction, by function and index, of each operation whose execution matters."""


@mutable
class ParameterPieces:
    """A `.param` variable in pieces: by their offset their width and register."""

    at: dict[int, tuple[int, int]] = field(default_factory=dict)


@mutable
class InlinedFrame:
    """A function as it is inlined at one place."""

    function: Function
    local: int
    free: int
    """Start of the local memory of a function that it calls."""
    depth: int
    registers: dict[str, tuple[int, int]]
    """Offset and width of each register."""
    local_offsets: dict[str, int]
    parameters: dict[str, ParameterPieces]
    within: tuple[str, ...]
    """The functions that are being inlined, the kernel first."""
    call: Location | None = None
    """Location of the call of a function of another file; see `Program.link`."""
    starts: dict[int, int] = field(default_factory=dict)
    """The operation that each instruction begins with."""


class Jump(NamedTuple):
    """An operation that goes on at an instruction of a function."""

    op: CoreOperation
    frame: InlinedFrame
    instruction: int


class Lowering:
    """Lowers one kernel; raises NotLoweredError."""

    def __init__(
        self,
        program: Program,
        entry: Function,
        lower_instruction: Callable[[Lowering, Instruction], None],
        *,
        exact: bool,
        source: str = "",
    ) -> None:
        self.program, self.entry, self.exact = program, entry, exact
        self.names = Names(program, (), source)
        self._used: dict[str, frozenset[str]] = {}
        self.lower_instruction = lower_instruction
        self.codes = codes()
        self.ops: list[CoreOperation] = []
        self.constants: dict[tuple[bytes, int], int] = {}
        self.launch_constants: dict[LaunchConstant, int] = {}
        self.constant_bytes = self.register_bytes = self.local_bytes = 0
        self.specials: dict[str, int] = {}
        self._carry: int | None = None
        self.local_starts: list[int] = []
        self.counted_instructions: dict[int, tuple[str, int]] = {}
        self.jumps: list[Jump] = []
        self.frame: InlinedFrame
        self.pc = 0
        self.weight = 0
        self.guard: tuple[int, int] = (0, 0)

    def may_copy_unset(self, load: Instruction) -> bool:
        """True if a load of local memory that was not set is no finding; see `Reporter.undefined_uses`.

        That is asked in the build for hazards alone.
        """
        if self.exact:
            return False
        function = self.frame.function
        if function.name not in self._used:
            self._used[function.name] = registers_used(function)
        if only_copies(load, self._used[function.name]):
            return True
        return not self.names.is_own(replace(load, location=self.location(load)))

    def location(self, instruction: Instruction) -> Location | None:
        """The location of an instruction of the function that is being lowered."""
        return within(instruction.location, self.frame.call)

    def lowered(self) -> LoweredKernel:
        """The kernel with all that it calls."""
        self.inline(self.entry, 0, 0, {}, ())
        for jump in self.jumps:
            jump.op.others["target"] = jump.frame.starts[jump.instruction]
        set_registers = frozenset(self.specials.values())
        marks = Marks(lambda: self.register("pred"), self.constant(b"\1"), self.constant(b"\0"))
        self.ops = with_checks(self.ops, set_registers, marks)
        numbers = {
            offset | CONSTANT: int.from_bytes(content, "little", signed=True)
            for (content, width), offset in self.constants.items()
        }
        ops = optimise(self.ops, set_registers, numbers, self.power_of_two, exact=self.exact)
        _drop_unread_results(ops)
        constants = np.zeros(max(self.constant_bytes, 64), np.uint8)
        for (content, width), offset in self.constants.items():
            constants[offset : offset + width * LANES] = np.frombuffer(content * LANES, np.uint8)
        return LoweredKernel(
            self.program,
            _assembled(ops, self.codes),
            constants,
            tuple(constant._replace(offset=offset) for constant, offset in self.launch_constants.items()),
            -(-max(self.register_bytes, 64) // 64) * 64,
            self.specials,
            tuple(self.local_starts),
            self.local_bytes,
            {
                at: self.counted_instructions[op.key[2]]
                for at, op in enumerate(ops)
                if op.others.get("flags", 0) & NOTED
            },
        )

    def inline(
        self,
        function: Function,
        local: int,
        depth: int,
        parameters: dict[str, ParameterPieces],
        callers: tuple[str, ...],
        call: Location | None = None,
    ) -> None:
        """Lower a function at this place; its local memory begins at ``local``."""
        if function.name in callers or depth > MOST_CALLS:
            raise NotLoweredError(f"call {function.name}")
        offsets, frame_bytes = local_layout(function)
        registers = {name: (self.register(kind), TYPE_BYTES[kind]) for name, kind in function.registers}
        chain = (*callers, function.name)
        frame = InlinedFrame(
            function,
            local,
            local + frame_bytes,
            depth,
            registers,
            offsets,
            parameters,
            chain,
            caller_of_header(function, call),
        )
        self.local_bytes = max(self.local_bytes, local + frame_bytes)
        body = function.body
        for pc, ins in enumerate(body):
            self.frame, self.pc, self.weight = frame, pc, 1
            frame.starts[pc] = len(self.ops)
            self._lower(ins)
            if len(self.ops) > MOST_OPERATIONS:
                raise NotLoweredError("a kernel that is too long")
        self.frame, self.pc, self.weight, self.guard = frame, len(body), 0, (0, 0)
        frame.starts[len(body)] = len(self.ops)
        if depth:
            self.emit("jump", target=len(self.ops) + 1)
        else:
            self.emit("exit")

    def _lower(self, ins: Instruction) -> None:
        self.guard = (0, 0)
        if ins.guard is not None:
            kind = 2 if ins.guard.negated else 1
            self.guard = (kind, self.read(replace(ins.guard, negated=False), "pred"))
        before = len(self.ops)
        try:
            self.lower_instruction(self, ins)
        except (LookupError, ValueError, OverflowError) as problem:  # nvcc does not look into inline assembly
            raise NotLoweredError(ins.name) from problem
        if ins.opcode in COUNTED and len(self.ops) > before:
            last = self.ops[-1]
            self.counted_instructions[last.key[2]] = (self.frame.function.name, self.pc)
            last.others["flags"] = last.others.get("flags", 0) | NOTED

    # --- registers, numbers, operations --------------------------------------------------------------

    def register(self, kind: str) -> int:
        """Room for a register; gives its offset."""
        bytes_ = TYPE_BYTES[kind]
        width = 1 if kind == "pred" else max(4, bytes_)
        if bytes_ > 8:  # noqa: PLR2004 - a register of 128 bits
            raise NotLoweredError(f"a register of type {kind}")
        offset = self.register_bytes
        self.register_bytes += width * LANES
        if self.register_bytes > MOST_REGISTER_BYTES:
            raise NotLoweredError("a kernel with very many registers")
        return offset

    def carry(self) -> int:
        """The register of the carry of extended-precision arithmetic (PTX ISA section 9.7.2)."""
        if self._carry is None:
            self._carry = self.register("pred")
        return self._carry

    def constant(self, content: bytes) -> int:
        """The offset of a number in the constants; a predicate is a byte."""
        key = content, len(content)
        if key not in self.constants:
            self.constants[key] = self._constant_room(len(content))
        return self.constants[key] | CONSTANT

    def power_of_two(self, exponent: int) -> int:
        """The offset of a power of two of 32 bits."""
        return self.constant((1 << exponent).to_bytes(4, "little"))

    def _constant_room(self, width: int) -> int:
        offset = self.constant_bytes
        self.constant_bytes += width * LANES
        return offset

    def launch_constant(self, width: int, **of: object) -> int:
        """The offset of a constant that each launch fills in."""
        constant = LaunchConstant(0, width, **of)  # type: ignore[arg-type]
        if constant not in self.launch_constants:
            self.launch_constants[constant] = self._constant_room(width)
        return self.launch_constants[constant] | CONSTANT

    def emit(
        self,
        name: str,
        *,
        dst: int = NONE,
        reads: tuple[int, ...] = (),
        more: tuple[int, int, int] = (NONE, NONE, NONE),
        more_written: tuple[int, ...] = (),
        more_read: tuple[int, ...] = (),
        **others: int,
    ) -> CoreOperation:
        """Add an operation."""
        if name not in self.codes:
            raise NotLoweredError(name)
        kind, guard = self.guard
        key = -self.frame.depth, self.pc, len(self.ops)
        op = CoreOperation(
            name, key, kind, guard, dst, reads, more, more_written, more_read, others, self.weight
        )
        self.ops.append(op)
        self.weight = 0
        return op

    def helper(self, name: str, kind: str, *reads: int) -> int:
        """A register with the result of an operation that no instruction stands for."""
        weight, guard = self.weight, self.guard
        self.weight, self.guard = 0, (0, 0)
        register = self.register(kind)
        self.emit(name, dst=register, reads=reads)
        self.weight, self.guard = weight, guard
        return register

    def destination(self, operand: Operand, width: int) -> int:
        """The offset of a register that a result of ``width`` bytes goes into; NONE for the sink."""
        if isinstance(operand, Symbol) and operand.name == "_":
            return NONE
        if not isinstance(operand, Register) or operand.name not in self.frame.registers:
            raise NotLoweredError(f"{self.name()} into {operand}")
        offset, own = self.frame.registers[operand.name]
        if (max(own, 4) if width else own) != (max(width, 4) if width else 1):
            raise NotLoweredError(f"{self.name()} into a register of another width")
        return offset

    def name(self) -> str:
        """The name of the instruction that is being lowered."""
        return self.frame.function.body[self.pc].name

    def read(self, operand: Operand, kind: str) -> int:
        """The offset of an operand as a type; a wider register gives its low bits."""
        width = WIDTH.get(kind)
        if width is None:
            raise NotLoweredError(f"{self.name()} of {kind}")
        if isinstance(operand, Immediate):
            return self.constant(_literal(operand, kind))
        if isinstance(operand, Symbol):
            return self.constant(self.address_of(operand).to_bytes(8, "little", signed=True)[: max(width, 4)])
        if not isinstance(operand, Register):
            raise NotLoweredError(self.name())
        if operand.name not in self.frame.registers:
            return self._special(operand.name, width)
        offset, own = self.frame.registers[operand.name]
        if kind == "pred":
            return self.helper("not_pred", "pred", offset) if operand.negated else offset
        if width == 8 and own != 8:  # noqa: PLR2004 - bytes
            raise NotLoweredError(f"{self.name()} of a narrow register")
        if width < own == 8:  # noqa: PLR2004 - bytes
            return self.helper("trunc_64_32", "b32", offset)
        return offset

    def _special(self, name: str, width: int) -> int:
        name = SAME.get(name, name)
        if name in FIXED:
            return self.constant(FIXED[name].to_bytes(8, "little")[: max(width, 4)])
        if name not in SPECIALS or width > 4:  # noqa: PLR2004 - bytes
            raise NotLoweredError(f"{self.name()} of {name}")
        if name not in self.specials:
            self.specials[name] = self.register("b32")
        return self.specials[name]

    def address_of(self, symbol: Symbol) -> int:
        """The address of a variable or function, as `mov` gives it."""
        if symbol.name in self.frame.local_offsets:
            return self.frame.local + self.frame.local_offsets[symbol.name] + symbol.offset
        if symbol.name in self.program.addresses:
            return self.program.addresses[symbol.name] + symbol.offset
        raise NotLoweredError(f"{self.name()} of {symbol.name}")

    def own_width(self, operand: Operand) -> int:
        """Bytes of a register; of anything else 4."""
        if isinstance(operand, Register) and operand.name in self.frame.registers:
            return self.frame.registers[operand.name][1]
        return 4


def read_type(kind: str) -> str:
    """The type as which an operand is read whose low bits are wanted."""
    return "b64" if TYPE_BYTES[kind] == 8 else "b32"  # noqa: PLR2004 - bytes


def copy_of(bits: int) -> str:
    """The operation that copies a register of that many bits; 0 bits are a predicate."""
    if not bits:
        return "mov_pred"
    return "mov_b64" if bits == 64 else "mov_b32"  # noqa: PLR2004 - bits


def _literal(operand: Immediate, kind: str) -> bytes:
    """A number as the bytes of a lane."""
    if kind == "pred":
        return bytes([operand.value != 0])
    if operand.kind == "f64" and kind == "f32":  # a decimal literal in a .f32 instruction
        return np.float32(np.uint64(operand.value).view(np.float64)).tobytes()
    width = WIDTH[kind]
    return (operand.value & (2 ** (8 * width) - 1)).to_bytes(max(width, 4), "little")


def _drop_unread_results(ops: list[CoreOperation]) -> None:
    """Drop the results of atomic operations that nothing reads."""
    read = Counter(offset for op in ops for offset in op.all_read())
    for op in reversed(ops):
        if op.is_pure and not read[op.dst]:  # a load of a parameter stays, though nothing reads it
            read.subtract(op.all_read())
    for op in ops:
        if op.name == "update" and not read[op.dst]:
            op.dst = NONE


def _assembled(ops: list[CoreOperation], codes_of: Mapping[str, int]) -> NDArray[np.void]:
    """The operations as the core reads them."""
    ranks = {op: rank for rank, op in enumerate(sorted(ops, key=lambda op: op.key))}
    rows = np.zeros(len(ops), OP)
    for at, op in enumerate(ops):
        a, b, c = (*op.reads, 0, 0, 0)[:3]
        field_of = op.others.get
        access = (
            field_of("imm", 0),
            ranks[op],
            field_of("size", 0),
            field_of("count", 0),
            field_of("flags", 0),
            op.weight,
            field_of("flops", 0),
        )
        rows[at] = (
            *(codes_of[op.name], op.guard_kind, field_of("space", 0), op.guard, op.dst, a, b, c, op.more),
            *(field_of("target", 0), *access),
        )
    return rows
