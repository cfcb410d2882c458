"""Small kernels, one thread at a time in every order: what happened, operation by operation.

The scalar interpreter runs a thread up to its next operation that others can see (an access to global or
shared memory, a fence, a barrier); then whoever the schedule names goes on. So threads are preempted at every
access. `grader.simulation.emulator` has no part in this: it is what it is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.simulation.ptx.nodes import TYPE_BYTES
from tests.simulation.emulator.scalar import indices, special
from tests.simulation.emulator.scalar_thread import LOCAL, SHARED, Thread
from tests.simulation.emulator.scalar_warps import waits_for_warp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.model import Argument, Launch
    from grader.simulation.ptx import Function, Instruction, Module

MOST_OPERATIONS = 3000
"""Operations after which a schedule is given up: a thread waits for ever."""

_GLOBAL, _SPACING = 1 << 40, 1 << 36
_FENCES = ("membar", "fence")
_ACCESSES = ("ld", "st", "atom", "red")


@dataclass(eq=False, slots=True)
class Operation:
    """An operation of one thread: ``thread`` and ``block`` count over the launch, ``warp`` as well.

    ``writer`` is the operation whose value a read got; ``instance`` numbers the barrier that was passed.
    """

    thread: int
    block: int
    warp: int
    instruction: Instruction
    what: str
    location: tuple[int, int] = (0, 0)
    size: int = 0
    value: int = 0
    writer: Operation | None = None
    instance: int = -1

    @property
    def line(self) -> int:
        """The line of the source, where the kernel calls what was inlined."""
        location = self.instruction.location
        assert location
        while location.inlined_at:
            location = location.inlined_at
        return location.line


@dataclass(eq=False, slots=True)
class Trace:
    """All operations of one schedule in the order in which they happened."""

    operations: list[Operation] = field(default_factory=list)
    ended: dict[int, int] = field(default_factory=dict)
    """The threads that came to their end, with how many operations there were by then."""
    passed: list[tuple[int, list[int], list[int]]] = field(default_factory=list)
    """Of each barrier: how many operations there were, who passed it, and who had exited before."""


class Interleaved:
    """One run of a launch, operation by operation."""

    def __init__(self, module: Module, entry: str, launch: Launch, arguments: tuple[Argument, ...]) -> None:
        self.function = module.function(entry)
        self.trace = Trace()
        self._writers: dict[tuple[int, int], Operation] = {}
        parameters, arrays = {}, {}
        for place, (formal, argument) in enumerate(zip(self.function.parameters, arguments, strict=True)):
            if isinstance(argument.value, np.ndarray):
                base = _GLOBAL + place * _SPACING
                arrays[base] = bytearray(argument.value.tobytes())
                parameters[formal.name] = bytearray(base.to_bytes(8, "little"))
            else:
                parameters[formal.name] = bytearray(argument.value.tobytes())
        self.threads: list[Thread] = []
        self.blocks: dict[Thread, int] = {}
        self._going: dict[Thread, Iterator[Instruction]] = {}
        self._waiting: set[Thread] = set()
        self._may_release = True  # some thread came to a barrier, or ended, since barriers were looked at
        size = launch.block[0] * launch.block[1] * launch.block[2]
        for block, index in enumerate(indices(launch.grid)):
            memory, addresses = _shared(module, self.function, arrays, launch.shared_bytes)
            for linear, thread_index in enumerate(indices(launch.block)):
                thread = Thread(
                    self.function,
                    special(launch, index, thread_index),
                    memory | {LOCAL: bytearray()},
                    parameters,
                    addresses,
                )
                thread.linear = block * size + linear
                self.blocks[thread] = block
                self.threads.append(thread)
        self._size = size
        for thread in self.threads:
            self._going[thread] = _until_visible(thread)
            self._advance(thread)

    def run(self, choose: Callable[[int], int]) -> bool:
        """Run to the end; ``choose`` gives a number below its argument. False if a thread waits for ever."""
        while self._going:
            ready = [thread for thread in self._going if thread not in self._waiting]
            if not ready:
                if not self._release():
                    return False
                continue
            if len(self.trace.operations) > MOST_OPERATIONS:
                return False
            thread = ready[choose(len(ready))]
            self._perform(thread)
            self._advance(thread)
            if self._may_release:
                self._release()
        return True

    def _advance(self, thread: Thread) -> None:
        thread.waits_for = next(self._going[thread], None)
        self._waiting.discard(thread)
        if thread.waits_for is None:
            del self._going[thread]
            self.trace.ended[thread.linear] = len(self.trace.operations)
            self._may_release = True
        elif _is_barrier(thread.waits_for):
            self._waiting.add(thread)
            self._may_release = True

    def _perform(self, thread: Thread) -> None:
        ins = thread.waits_for
        assert ins is not None
        what = "fence" if ins.opcode in _FENCES else ""
        operation = Operation(thread.linear, self.blocks[thread], self._warp(thread), ins, what)
        self.trace.operations.append(operation)
        if operation.what == "fence":
            return
        address = ins.operands[0] if ins.opcode in ("st", "red") else ins.operands[1]
        kind, content, start = thread.place(ins, address)
        operation.size = TYPE_BYTES[kind]
        operation.location = (id(content), start)
        operation.what = {"ld": "read", "st": "write"}.get(ins.opcode, "update")
        operation.writer = self._writers.get(operation.location)
        thread.execute(ins)
        operation.value = int.from_bytes(content[start : start + operation.size], "little")
        if operation.what != "read":
            self._writers[operation.location] = operation

    def _release(self) -> bool:
        """Let those go whose barrier is complete."""
        looked_at: set[tuple[int, int | None]] = set()
        for thread in self._going:
            if thread not in self._waiting:
                continue
            barrier = self._barrier(thread)
            if barrier not in looked_at:
                looked_at.add(barrier)
                members = self._members(*barrier)
                if all(other in self._waiting and _same_barrier(other, thread) for other in members):
                    self._pass(members)
                    return True
        self._may_release = False
        return False

    def _barrier(self, thread: Thread) -> tuple[int, int | None]:
        """The barrier at which a thread waits: its block and no mask, or its warp and the mask of lanes."""
        ins = _instruction(thread)
        if not waits_for_warp(ins):
            return self.blocks[thread], None
        return self._warp(thread), thread.read(ins.operands[-1], "u32")

    def _members(self, where: int, mask: int | None) -> list[Thread]:
        """The threads that take part in a barrier, of those that have not exited."""
        if mask is None:
            return [other for other in self._going if self.blocks[other] == where]
        warp = [other for other in self._going if self._warp(other) == where]
        return [other for other in warp if mask >> other.linear % self._size % 32 & 1]

    def _pass(self, members: list[Thread]) -> None:
        everyone = [t.linear for t in self.threads if self.blocks[t] == self.blocks[members[0]]]
        whole = not waits_for_warp(_instruction(members[0]))
        gone = [number for number in everyone if number in self.trace.ended] if whole else []
        passed = (len(self.trace.operations), [other.linear for other in members], gone)
        self.trace.passed.append(passed)
        for other in members:
            self._advance(other)

    def _warp(self, thread: Thread) -> int:
        return self.blocks[thread] * 32 + thread.linear % self._size // 32


def _shared(
    module: Module, function: Function, arrays: dict[int, bytearray], dynamic: int
) -> tuple[dict[int, bytearray], dict[str, int]]:
    addresses, end = {}, 0
    for variable in (*module.variables, *function.variables):
        if variable.space == "shared":
            end = -(-end // variable.align) * variable.align
            addresses[variable.name] = end
            end += variable.size
    return {**arrays, SHARED: bytearray(end + dynamic)}, addresses


def _instruction(thread: Thread) -> Instruction:
    assert thread.waits_for is not None
    return thread.waits_for


def _is_barrier(ins: Instruction) -> bool:
    return ins.opcode in ("bar", "barrier")


def _same_barrier(one: Thread, other: Thread) -> bool:
    """Return whether two threads wait at barriers of one kind, at any place (sections 9.7.13.1, 9.7.13.2)."""
    return waits_for_warp(_instruction(one)) == waits_for_warp(_instruction(other))


def _until_visible(thread: Thread) -> Iterator[Instruction]:
    """Run; yields each operation that others can see, before it is executed, and ends with the thread."""
    labels: dict[str, int] = dict(thread.function.labels)
    while True:
        ins = thread.function.body[thread.pc]
        thread.pc += 1
        if ins.guard and not thread.read(ins.guard, "pred"):
            continue
        if ins.opcode in ("ret", "exit"):
            return
        if ins.opcode == "bra":
            target: Any = ins.operands[0]
            thread.pc = labels[target.name]
        elif (
            _is_barrier(ins)
            or ins.opcode in _FENCES
            or (ins.opcode in _ACCESSES and not {"param", "local", "const"} & set(ins.modifiers))
        ):
            yield ins
        else:
            thread.execute(ins)
