"""Linking: the instructions of a function → steps that change a `Machine`.

A step is a closure made once per instruction by a function of a chapter in
`grader.simulation.emulator.instructions`; everything that can be known before running (types, register
numbers, symbol addresses) is settled here and costs nothing later.

Some instructions are hoisted: their result, the same at each execution, is computed once, when their kernel
begins. The unoptimised build computes the position of a thread in a shared array anew in every iteration of a
loop: a third of its instructions do nothing else. An instruction is hoisted if it computes a register that no
other writes from constants, from special registers that stay as they are, or from such registers; and if
every instruction that reads the register stands behind it, with no label and no branch between. So no lane
can observe when it was computed: neither a read of a register that is not set, nor a trace of it, is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.base.errors import UnsupportedPtx
from grader.simulation.emulator.instructions import step_of
from grader.simulation.emulator.linking.link import OF_LANES, FunctionScope, Link, guarded, guarded_control
from grader.simulation.emulator.linking.provenance import registers_used
from grader.simulation.emulator.machine.state import Code
from grader.simulation.ptx import Address, Immediate, Register, Symbol
from grader.simulation.ptx.facts import COUNTED, MBARRIER_WAITS, used_locals
from grader.simulation.ptx.nodes import registers_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from grader.simulation.emulator.linking.program import Program
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Group
    from grader.simulation.ptx import Function, Instruction, Operand

FLOPS = {"add": 1, "sub": 1, "mul": 1, "div": 1, "sqrt": 1, "rsqrt": 1, "rcp": 1, "fma": 2, "mad": 2}
"""Floating-point operations per opcode; an fma counts as two. Comparisons and conversions are none."""

_FLOAT_LANES = {"f16": 1, "bf16": 1, "f32": 1, "f64": 1, "f16x2": 2, "bf16x2": 2}


def is_control(instruction: Instruction) -> bool:
    """True if an instruction decides where its lanes go on, or ends or holds them."""
    if instruction.opcode in ("bra", "brx", "ret", "exit", "call", "trap"):
        return True
    if instruction.opcode == "mbarrier":
        return not set(MBARRIER_WAITS).isdisjoint(instruction.modifiers)
    return instruction.opcode in ("bar", "barrier") or "sync" in instruction.modifiers


def link_function(program: Program, function: Function) -> Code:
    """The linked form of a function, to be followed step by step."""
    return Linker(program, function).code()


def link_hoisting(program: Program, function: Function) -> Code:
    """The linked form of a function, of which some instructions are executed once, as they begin."""
    linker = Linker(program, function)
    code = linker.code()
    constant = OF_LANES | (program.addresses.keys() - linker.scope.local_offsets.keys())
    code.hoisted = hoisted(function, is_control, constant) - linker.refused
    return code


class Linker:
    """Links one function; instruction chapters see a `Link`."""

    def __init__(self, program: Program, function: Function) -> None:
        self.program = program
        self.function = function
        local_offsets, self.local_bytes = local_layout(function)
        registers = {name: number for number, (name, _) in enumerate(function.registers)}
        self.scope = FunctionScope(
            program,
            function,
            registers,
            dict(function.registers),
            dict(function.labels),
            local_offsets,
            registers_used(function),
        )
        self.refused: set[int] = set()
        """The instructions that are an error of the emulator where a lane reaches them."""

    def code(self) -> Code:
        """The linked function."""
        body = self.function.body
        steps = [self.step(pc, instruction) for pc, instruction in enumerate(body)]
        block_end, end = [0] * len(body), len(body)
        for pc in reversed(range(len(body))):
            end = pc if is_control(body[pc]) else end
            block_end[pc] = end
        flops = [0]
        for instruction in body:
            flops.append(flops[-1] + (0 if instruction.guard else flops_of(instruction)))
        return Code(
            self.function,
            steps,
            block_end,
            flops,
            len(self.scope.registers),
            self.local_bytes,
            self.scope.local_offsets,
        )

    def step(self, pc: int, instruction: Instruction) -> Any:  # noqa: ANN401 - a Step or a ControlStep
        """The step of one instruction; `is_control` says which kind it is.

        Opcodes are looked up in tables, and so are modifiers and types; operands are unpacked. An exception
        in such a step of a chapter means a form that it does not know: nvcc does not look into inline
        assembly. Any other exception is a bug of the emulator, and propagates unchanged.
        """
        link = Link(self.scope, pc, instruction)
        try:
            return self._step(link, instruction)
        except UnsupportedPtx as refusal:
            return self._refuse(pc, refusal)
        except (LookupError, ValueError) as error:
            unknown = link.unsupported()
            unknown.__cause__ = error
            return self._refuse(pc, unknown)

    def _refuse(self, pc: int, refusal: UnsupportedPtx) -> Any:  # noqa: ANN401 - as above
        """A step that is an error only if a lane ever gets there."""
        self.refused.add(pc)
        self.program.refused.append(refusal)
        return _refuse(refusal)

    def _step(self, link: Link, instruction: Instruction) -> Any:  # noqa: ANN401 - as above
        step: Any = step_of(link)
        if instruction.opcode in COUNTED:
            step = _noted(step, (self.function.name, link.pc))
        if instruction.guard is None or instruction.opcode == "bra":
            return step
        if is_control(instruction):
            return guarded_control(step, link.guard(), link.pc)
        return guarded(step, link.guard(), flops_of(instruction))


def flops_of(instruction: Instruction) -> int:
    """Floating-point operations that one lane does in an instruction."""
    kind = instruction.modifiers[-1] if instruction.modifiers else ""
    return FLOPS.get(instruction.opcode, 0) * _FLOAT_LANES.get(kind, 0)


def local_layout(function: Function) -> tuple[dict[str, int], int]:
    """The offsets of a function's local variables in its frame, and the bytes of the frame."""
    offsets, end = dict[str, int](), 0
    for variable in used_locals(function):
        end = -(-end // variable.align) * variable.align
        offsets[variable.name] = end
        end += variable.size
    return offsets, -(-end // 16) * 16


def _noted(step: Any, position: tuple[str, int]) -> Any:  # noqa: ANN401 - a step of either kind
    """A step that also notes that it was executed."""

    def noted(machine: Machine, *group: Group) -> Any:  # noqa: ANN401 - as above
        machine.executed.add(position)
        return step(machine, *group)

    return noted


def _refuse(refusal: UnsupportedPtx) -> Any:  # noqa: ANN401 - stands for a step of either kind
    def step(_machine: Machine, _group: Group | None = None) -> None:
        raise refusal

    return step


_OPCODES = {"mov", "cvt", "cvta", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not"}
"""Opcodes that compute their first operand from the others, lane by lane."""

_LOOKED_AT = {"setp", "set"}
"""Comparisons that loop analysis reads: it must not see their result before they are executed."""


def hoisted(
    function: Function, is_control: Callable[[Instruction], bool], constant: Collection[str]
) -> frozenset[int]:
    """The indices of the instructions of a kernel that may be executed once, in this order, when it begins.

    ``constant`` are the special registers, and the variables, that hold the same throughout a launch.
    """
    if not function.is_entry:
        return frozenset()
    runs = _straight_runs(function, is_control)
    mentions = _mentions(function)
    computed: set[str] = set()
    indices = []
    for index, instruction in enumerate(function.body):
        if not _computes(instruction) or not all(
            _is_constant(operand, constant, computed) for operand in instruction.operands[1:]
        ):
            continue
        (register,) = registers_in(instruction.operands[0])
        others = [other for other in mentions[register] if other != index]
        behind = all(other > index and runs[other] == runs[index] for other in others)
        if behind and all(_only_reads(function.body[other], register) for other in others):
            computed.add(register)
            indices.append(index)
    return frozenset(indices)


def _straight_runs(function: Function, is_control: Callable[[Instruction], bool]) -> list[int]:
    """For each instruction the number of its run; a run ends with its branch, or at a label."""
    starts = {index for _, index in function.labels}
    runs, number = [], 0
    for index, instruction in enumerate(function.body):
        number += index in starts
        runs.append(number)
        number += is_control(instruction)
    return runs


def _mentions(function: Function) -> dict[str, list[int]]:
    """The instructions in which each register stands, as an operand or as the predicate."""
    mentions: dict[str, list[int]] = {}
    for index, instruction in enumerate(function.body):
        guard = () if instruction.guard is None else (instruction.guard,)
        for operand in (*instruction.operands, *guard):
            for name in registers_in(operand):
                mentions.setdefault(name, []).append(index)
    return mentions


def _computes(instruction: Instruction) -> bool:
    return (
        instruction.opcode in _OPCODES
        and instruction.guard is None
        and "cc" not in instruction.modifiers
        and isinstance(next(iter(instruction.operands), None), Register)  # by hand, anything may be written
    )


def _is_constant(operand: Operand, constant: Collection[str], computed: Collection[str]) -> bool:
    if isinstance(operand, Register):
        return operand.name in constant or operand.name in computed
    return isinstance(operand, Immediate) or (isinstance(operand, Symbol) and operand.name in constant)


def _only_reads(instruction: Instruction, register: str) -> bool:
    """True if an instruction does not write a register that stands in it; for some opcodes always false."""
    if instruction.opcode in _LOOKED_AT:
        return False
    first = instruction.operands[0] if instruction.operands else None
    return first is None or isinstance(first, Address) or register not in registers_in(first)
