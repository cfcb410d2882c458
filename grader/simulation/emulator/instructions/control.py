"""Control flow (PTX ISA section 9.7.12): branches, calls, by pointer too, returns, the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from grader.base.errors import UnsupportedPtx
from grader.model import FindingCode
from grader.simulation.emulator import printing
from grader.simulation.emulator.machine.state import Frame, Group
from grader.simulation.emulator.machine.values import Value, scalar, spread
from grader.simulation.ptx import Register, Symbol, Tuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.link import ControlStep, Link
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.machine.state import Code
    from grader.simulation.ptx import Instruction, Operand

    Names: TypeAlias = tuple[str, ...]

_LONGEST = 200
"""Characters of an assertion that are shown."""

WORK_OF_HEAP = 8
"""Work of one lane's call of `malloc` or `free`: lanes take turns."""

MAX_DEPTH = 128
"""Calls inside calls: of each no more than 8 bytes would fit into CUDA's default stack (1 KiB a thread)."""


def bra(ins: Instruction, link: Link) -> ControlStep:
    """`bra`, with or without a predicate: lanes that disagree part, to meet again further down."""
    target, after = link.target(ins.operands[0]), link.pc + 1
    if ins.guard is None:

        def jump(_m: Machine, group: Group) -> None:
            group.pc = target

        return _returning(jump) if _is_return(link, target) else jump
    condition = link.guard()

    def branch(m: Machine, group: Group) -> list[Group] | None:
        taken, others = m.split(group, condition(m, m.active))
        m.observer.branched(m, ins, group, taken, others)
        if taken:
            taken.pc = target
        if others:
            others.pc = after
        return [taken, others] if taken and others else None

    return branch


def _is_return(link: Link, target: int) -> bool:
    """True if a jump is a `return` of the source.

    Without optimisation these jump to the only `ret`, at the end; the end of the text does so from just
    before.
    """
    function = link.scope.function
    if not function.is_entry or target != len(function.body) - 1 or function.body[target].opcode != "ret":
        return False
    return link.pc + 1 != target or _is_before_the_end(link)


def _is_before_the_end(link: Link) -> bool:
    """True if an instruction stands on a line before the last one of its function.

    A kernel that loops for ever has no end of its text, only a `return`.
    """
    own = link.instruction.location
    places = (instruction.location for instruction in link.scope.function.body)
    lines = (p.line for p in places if p is not None and own is not None and p.file == own.file)
    return own is not None and own.line < max(lines)


def _returning(jump: Callable[[Machine, Group], None]) -> ControlStep:
    def step(m: Machine, group: Group) -> None:
        _note_return(m, group)
        jump(m, group)

    return step


def _note_return(m: Machine, group: Group) -> None:
    """Note that lanes end by a `return`, or by an equivalent instruction."""
    if group.frame.entry.returned is None:
        group.frame.entry.returned = np.zeros(m.size, np.bool_)
    group.frame.entry.returned[m.lanes()] = True


def ret(_ins: Instruction, link: Link) -> ControlStep:
    """`ret`: back to the caller; from the kernel itself, the end."""
    returns = link.scope.function.is_entry and _is_before_the_end(link)

    def step(m: Machine, group: Group) -> list[Group] | None:
        frame = group.frame
        if frame.caller is None:
            if returns:
                _note_return(m, group)
            m.exit(group)
            return []
        m.hand_back(frame, group)
        return [group]

    return step


def exit_(_ins: Instruction, _link: Link) -> ControlStep:
    """`exit`: the lanes end, wherever they are."""

    def step(m: Machine, group: Group) -> list[Group]:
        _note_return(m, group)
        m.exit(group)
        return []

    return step


def trap(_ins: Instruction, link: Link) -> ControlStep:
    """`trap`: the whole launch stops with a fault (section 9.7.19.5)."""
    site = link.site()

    def step(m: Machine, _group: Group) -> list[Group]:
        m.reporter.trapped(m, site)
        m.stop()
        return []

    return step


def brx(ins: Instruction, link: Link) -> ControlStep:
    """`brx.idx index, list`: to one of a list of labels, beyond its end the last (9.7.12.3)."""
    targets, index = link.targets(ins.operands[1]), link.fetch(ins.operands[0], "u32")

    def branch(m: Machine, group: Group) -> list[Group] | None:
        chosen = np.minimum(index(m, m.active), np.uint32(len(targets) - 1))
        indices = np.unique(chosen).tolist()
        if len(indices) == 1:
            group.pc = targets[indices[0]]
            return None
        lanes = m.lanes()
        return [Group(group.frame, targets[index], lanes[chosen == index], group.turn) for index in indices]

    return branch


def _argument(m: Machine, name: str, dtype: type[np.generic]) -> NDArray[np.generic]:
    """An argument of the active lanes, an element each; zeros where none was passed."""
    pieces = m.frame.parameters.get(name, {})
    if 0 not in pieces:
        return np.zeros(m.count, dtype)
    value = spread(m.memo.pick(pieces[0], m.active), m.count)
    return value.astype(f"u{value.dtype.itemsize}").astype(dtype)


def _answer(m: Machine, returned: Names, value: Value) -> None:
    """The result of a function, over the active lanes, as its caller will read it."""
    for name in returned:
        pieces = m.frame.parameters.setdefault(name, {})
        if m.active is None:
            pieces[0] = value
            continue
        whole = np.zeros(m.size, value.dtype)
        if 0 in pieces and pieces[0].dtype.itemsize == value.dtype.itemsize:
            whole[...] = m.memo.pick(pieces[0], np.arange(m.size)).view(value.dtype)
        whole[m.active] = value
        pieces[0] = whole


def _printf(link: Link, passed: Names, returned: Names) -> ControlStep:
    """`vprintf(format, arguments)`: the text goes to the launch, as much of it as there is room for."""
    after = link.pc + 1

    def step(m: Machine, group: Group) -> None:
        format_at, values_at = (_argument(m, name, np.uint64) for name in passed[:2])
        count = printing.print_lanes(m, format_at, values_at)
        _answer(m, returned, scalar(np.int32(count)))
        group.pc = after

    return step


def _assertion_failed(link: Link, passed: Names, _returned: Names) -> ControlStep:
    """`__assertfail(message, file, line, function, size)`: the launch stops with the assertion's text."""
    site = link.site()

    def step(m: Machine, _group: Group) -> list[Group]:
        lane, address = int(m.lanes()[0]), int(_argument(m, passed[0], np.uint64)[0]) if passed else 0
        m.reporter.trapped(m, site, printing.printable(printing.text_at(m, lane, address, _LONGEST)))
        m.stop()
        return []

    return step


def _malloc(link: Link, passed: Names, returned: Names) -> ControlStep:
    """`malloc(size)` and `__nv_aligned_device_malloc(size, align)`: a block for each lane, or null."""
    after = link.pc + 1

    def step(m: Machine, group: Group) -> None:
        sizes = _argument(m, passed[0], np.uint64)
        aligns = _argument(m, passed[1], np.uint64) if len(passed) > 1 else np.full(m.count, 16)
        heap = m.memory.heap
        m.work += WORK_OF_HEAP * m.count
        starts = [
            heap.take(int(size), int(align)) if heap and 0 < align <= 1 << 16 else None
            for size, align in zip(sizes, aligns, strict=True)
        ]
        addresses = [0 if start is None else m.memory.base + start for start in starts]
        _answer(m, returned, np.array(addresses, np.uint64))
        group.pc = after

    return step


def _free(link: Link, passed: Names, _returned: Names) -> ControlStep:
    """`free(pointer)`: null has no effect; a pointer not from malloc, or freed before, is an error."""
    after, site = link.pc + 1, link.site()

    def step(m: Machine, group: Group) -> None:
        m.work += WORK_OF_HEAP * m.count
        for lane, address in enumerate(_argument(m, passed[0], np.uint64).tolist()):
            heap = m.memory.heap
            if address and not (heap and heap.give_back(address - m.memory.base)):
                m.reporter.fault(m, site, FindingCode.BAD_FREE, lane=int(m.lanes()[lane]))
        group.pc = after

    return step


SYSTEM: dict[str, Callable[[Link, Names, Names], ControlStep]] = {
    "vprintf": _printf,
    "__assertfail": _assertion_failed,
    "malloc": _malloc,
    "__nv_aligned_device_malloc": _malloc,
    "free": _free,
}
"""System functions by their names in PTX; a module that defines one itself uses its own."""


class _CallParts(NamedTuple):
    """The parts of a call: callee, arguments, results; where to go on."""

    callee: Operand
    passed: tuple[str, ...]
    returned: tuple[str, ...]
    after: int


def call(ins: Instruction, link: Link) -> ControlStep:
    """`call (results), function, (arguments)`, or a register and a prototype in place of the function."""
    results = [o for o in ins.operands[:1] if isinstance(o, Tuple)] if len(ins.operands) > 1 else []
    callee = ins.operands[1 if results else 0]
    arguments = ins.operands[2 if results else 1 :][:1]
    parts = _CallParts(callee, _names(arguments), _names(results), link.pc + 1)
    if isinstance(callee, Symbol):
        if callee.name in SYSTEM and not link.program.defines(callee.name):
            return SYSTEM[callee.name](link, parts.passed, parts.returned)
        return _by_name(ins, link, parts)
    if isinstance(callee, Register):
        return _through_pointer(ins, link, parts)
    raise link.unsupported()


def _names(lists: object) -> tuple[str, ...]:
    """The names in the first of some parenthesised lists."""
    first = lists[0] if isinstance(lists, list | tuple) and lists else None
    elements = first.elements if isinstance(first, Tuple) else ()
    return tuple(element.name for element in elements if isinstance(element, Symbol))


def _by_name(ins: Instruction, link: Link, parts: _CallParts) -> ControlStep:
    name = parts.callee.name if isinstance(parts.callee, Symbol) else ""

    def step(m: Machine, group: Group) -> list[Group]:
        code = _linked(link, name, ins)
        if not _fits(code, parts):
            raise link.unsupported()
        return _enter(m, group, ins, code, parts)

    return step


def _through_pointer(ins: Instruction, link: Link, parts: _CallParts) -> ControlStep:
    """Lanes that call different functions part; they meet again behind the call."""
    pointer, site = link.fetch(parts.callee, "u64"), link.site()

    def step(m: Machine, group: Group) -> list[Group]:
        entered: list[Group] = []
        for address, called in _groups_by_address(group, pointer(m, m.active), m):
            name = link.program.function_at(address)
            code = _linked(link, name, ins) if name else None
            m.active = called.lanes
            if code is not None and _fits(code, parts):
                entered += _enter(m, called, ins, code, parts)
                continue
            if name:
                m.reporter.fault(m, site, FindingCode.CALL_OF_OTHER_TYPE, (("function", name),))
            else:
                m.reporter.fault(m, site, FindingCode.CALL_OF_NOTHING, (("address", hex(address)),))
            m.exit(called)
        return entered

    return step


def _groups_by_address(group: Group, pointer: Value, m: Machine) -> Iterator[tuple[int, Group]]:
    """A group as one group for each address that its lanes call."""
    addresses = np.unique(pointer)
    if len(addresses) == 1:
        yield int(addresses[0]), group
        return
    lanes = m.lanes()
    for address in addresses:
        yield int(address), Group(group.frame, group.pc, lanes[pointer == address], group.turn)


def _linked(link: Link, name: str, ins: Instruction) -> Code:
    try:
        return link.program.link(name, ins.location)
    except UnsupportedPtx:
        refusal = UnsupportedPtx(f"call {name}", ins.ptx_line, link.program.sources(ins))
        raise refusal from None


def _fits(code: Code, parts: _CallParts) -> bool:
    """True if a function takes as many arguments, and gives as many results, as a call passes."""
    function = code.function
    return len(function.parameters) == len(parts.passed) and len(function.results) == len(parts.returned)


def _enter(m: Machine, group: Group, ins: Instruction, code: Code, parts: _CallParts) -> list[Group]:
    """A new frame for the lanes that call together; none if their stack is full."""
    caller = group.frame
    local = caller.local + caller.code.local_bytes
    if caller.depth >= MAX_DEPTH or local + code.local_bytes > m.local_bytes:
        m.reporter.stack_overflow(m, ins)
        m.stop()
        return []
    formal = (parameter.name for parameter in code.function.parameters)
    arguments = {
        name: caller.parameters.get(actual, {}) for name, actual in zip(formal, parts.passed, strict=True)
    }
    results = tuple(zip((result.name for result in code.function.results), parts.returned, strict=True))
    frame = Frame(
        code, [None] * code.register_count, arguments, local, caller.depth + 1, caller, parts.after, results
    )
    return [Group(frame, 0, group.lanes, group.turn)]


TABLE = {
    "bra": bra,
    "brx": brx,
    "ret": ret,
    "exit": exit_,
    "trap": trap,
    "call": call,
}
