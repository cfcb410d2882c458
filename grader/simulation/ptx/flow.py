"""The control flow of a function: basic blocks, dominators, loops, and which branches decide over a block.

Sets of blocks are integers with a bit per block; a function of a few hundred blocks takes milliseconds.
Dominance is solved by iteration (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", 2001),
control dependence follows Ferrante, Ottenstein and Warren (1987).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from grader.simulation.ptx.nodes import Address, Symbol, registers_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from grader.simulation.ptx.nodes import Function, Instruction

_ENDS = ("ret", "exit", "trap")


@dataclass(frozen=True)
class Loop:
    """A natural loop: its header, and all of its blocks with the header among them."""

    header: int
    blocks: frozenset[int]


class Flow:
    """The control-flow graph of a function.

    Block ``b`` holds the instructions ``starts[b]`` to ``starts[b + 1] - 1``. A function that branches
    through a table (``brx``) has no graph here: raises ValueError, as for a prototype without a body.
    """

    def __init__(self, function: Function) -> None:
        body = function.body
        if not body or any(instruction.opcode == "brx" for instruction in body):
            raise ValueError(function.name)
        self.function = function
        targets = dict(function.labels)
        ends = {at + 1 for at, instruction in enumerate(body) if instruction.opcode in ("bra", *_ENDS)}
        begins = {0, *ends, *(index for index in targets.values())}
        self.starts = (*sorted(begin for begin in begins if begin < len(body)), len(body))
        self.block_of = tuple(b for b, (a, z) in enumerate(pairwise(self.starts)) for _ in range(a, z))
        self.successors = tuple(self._successors(b, targets) for b in range(len(self.starts) - 1))

    def _successors(self, block: int, targets: dict[str, int]) -> tuple[int, ...]:
        end = self.starts[block + 1]
        last = self.function.body[end - 1]
        following: set[int] = set()
        if last.opcode == "bra" and isinstance(last.operands[0], Symbol):
            following.add(targets[last.operands[0].name])
        if last.opcode not in ("bra", *_ENDS) or last.guard is not None:
            following.add(end)
        return tuple(sorted(self.block_of[at] for at in following if at < len(self.function.body)))

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """For each block the blocks that may come before it."""
        before: list[list[int]] = [[] for _ in self.successors]
        for block, following in enumerate(self.successors):
            for successor in following:
                before[successor].append(block)
        return tuple(tuple(blocks) for blocks in before)

    @cached_property
    def dominators(self) -> list[int]:
        """For each block the set of blocks that every path from the entry to it passes."""
        return _dominators(self.predecessors, {0}, range(len(self.successors)))

    @cached_property
    def post_dominators(self) -> list[int]:
        """For each block the set of blocks that every path from it to an end passes."""
        ends = {block for block, following in enumerate(self.successors) if not following}
        return _dominators(self.successors, ends, range(len(self.successors) - 1, -1, -1))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The natural loops, one for each header, in the order of the headers."""
        blocks: dict[int, set[int]] = {}
        for tail, following in enumerate(self.successors):
            for header in following:
                if self.dominators[tail] >> header & 1:
                    blocks.setdefault(header, {header}).update(self._leading_to(tail, header))
        return tuple(Loop(header, frozenset(blocks[header])) for header in sorted(blocks))

    def _leading_to(self, tail: int, header: int) -> set[int]:
        blocks, todo = {header}, [tail]
        while todo:
            block = todo.pop()
            if block not in blocks:
                blocks.add(block)
                todo += self.predecessors[block]
        return blocks

    def loops_around(self, at: int) -> list[Loop]:
        """The loops that an instruction is in, the innermost first."""
        around = [loop for loop in self.loops if self.block_of[at] in loop.blocks]
        return sorted(around, key=lambda loop: len(loop.blocks))

    def deciding(self, at: int) -> set[int]:
        """The branches (as instructions) that control the execution, or the number of executions, of one.

        This includes branches that decide by way of others.
        """
        branches: set[int] = set()
        todo = [self.block_of[at]]
        while todo:
            for branch in self._control[todo.pop()]:
                if branch not in branches:
                    branches.add(branch)
                    todo.append(branch)
        return {self.starts[branch + 1] - 1 for branch in branches}

    @cached_property
    def _control(self) -> list[list[int]]:
        """For each block the branching blocks that it depends on directly."""
        after = self.post_dominators
        branches: list[list[int]] = [[] for _ in self.successors]
        for branch, following in enumerate(self.successors):
            if len(following) > 1:
                strict = after[branch] & ~(1 << branch)
                decided = 0
                for successor in following:
                    decided |= after[successor]
                for block in _members(decided & ~strict):
                    branches[block].append(branch)
        return branches

    def reaches(self, sources: Collection[int], targets: Collection[int], barring: int = -1) -> bool:
        """True if control may come from behind a source to a target.

        It must not pass the place ``barring``, which is just before the instruction of that index.
        """
        goals, visited = set(targets), set()
        todo = [first for source in sources for first in self._after(source)]
        while todo:
            first = todo.pop()
            if first in visited:
                continue
            visited.add(first)
            block = self.block_of[first]
            for at in range(first, self.starts[block + 1]):
                if at == barring:
                    break
                if at in goals:
                    return True
            else:
                todo += self._after(at)
        return False

    def _after(self, at: int) -> list[int]:
        """The instructions that may come next."""
        block = self.block_of[at]
        if at + 1 < self.starts[block + 1]:
            return [at + 1]
        return [self.starts[successor] for successor in self.successors[block]]

    @cached_property
    def thread_dependent(self) -> frozenset[str]:
        """The registers whose values may differ between the threads of a block, as far as data flow shows.

        A value loaded from memory may; a kernel's parameters do not, nor does a value computed from them
        alone.
        """
        addresses = {parameter.name for parameter in self.function.parameters if self.function.is_entry}
        dependent: set[str] = set()
        grown = True
        while grown:
            before = len(dependent)
            for instruction in self.function.body:
                written, read = _written_and_read(instruction)
                unknown = instruction.opcode in _UNKNOWN and not _loads_one_of(addresses, instruction)
                if unknown or any(name in dependent or name.startswith(_OF_A_THREAD) for name in read):
                    dependent.update(written)
            grown = len(dependent) > before
        return frozenset(dependent)


_OF_A_THREAD = ("%tid", "%laneid", "%warpid", "%lanemask", "%clock", "%globaltimer")
_WRITES_NONE = ("st", "red", "bra", "bar", "barrier", "call")
_UNKNOWN = ("ld", "ldu", "atom", "mbarrier", "call", "shfl", "match", "elect", "activemask")


def _dominators(before: tuple[tuple[int, ...], ...], roots: set[int], order: range) -> list[int]:
    """The sets that satisfy ``dom(b) = {b} + the intersection of dom(p) over the p in before[b]``."""
    everything = (1 << len(before)) - 1
    dominators = [1 << b if b in roots else everything for b in range(len(before))]
    changed = True
    while changed:
        changed = False
        for block in order:
            if block in roots:
                continue
            common = everything
            for predecessor in before[block]:
                common &= dominators[predecessor]
            common |= 1 << block
            changed |= common != dominators[block]
            dominators[block] = common
    return dominators


def _members(blocks: int) -> Iterator[int]:
    while blocks:
        low = blocks & -blocks
        yield low.bit_length() - 1
        blocks ^= low


def _loads_one_of(parameters: set[str], instruction: Instruction) -> bool:
    """True if an instruction loads from a parameter of these names."""
    source = instruction.operands[-1]
    if "param" not in instruction.modifiers or not isinstance(source, Address):
        return False
    return isinstance(source.base, Symbol) and source.base.name in parameters


def _written_and_read(instruction: Instruction) -> tuple[list[str], list[str]]:
    """The registers of the first operand, and the registers of all others with the guard."""
    operands = instruction.operands
    written = list(registers_in(operands[0])) if operands and instruction.opcode not in _WRITES_NONE else []
    read = [name for operand in operands[1:] for name in registers_in(operand)]
    if instruction.guard is not None:
        read.append(instruction.guard.name)
    return written, read
