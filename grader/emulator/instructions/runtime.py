"""Functions that the device's runtime provides, and PTX only declares: they are done here."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from grader.emulator import printing
from grader.emulator.machine.values import Value, spread
from grader.model import FindingCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.linking.link import ControlStep, Link
    from grader.emulator.machine.machine import Machine
    from grader.emulator.machine.state import Group

    Names: TypeAlias = tuple[str, ...]

_LONGEST = 200
"""Characters of an assertion that are shown."""


def _argument(m: Machine, name: str, dtype: type[np.generic]) -> NDArray[np.generic]:
    """An argument of the active lanes, an element each; zeros where none was passed."""
    pieces = m.frame.parameters.get(name, {})
    if 0 not in pieces:
        return np.zeros(m.count, dtype)
    value = spread(m.pick(pieces[0], m.active), m.count)
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
            whole[...] = m.pick(pieces[0], np.arange(m.size)).view(value.dtype)
        whole[m.active] = value
        pieces[0] = whole


def _printf(link: Link, passed: Names, returned: Names) -> ControlStep:
    """`vprintf(format, arguments)`: the text goes to the launch, as much of it as there is room for."""
    after = link.pc + 1

    def step(m: Machine, group: Group) -> None:
        format_at, values_at = (_argument(m, name, np.uint64) for name in passed[:2])
        count = printing.print_lanes(m, format_at, values_at)
        _answer(m, returned, np.int32(count))
        group.pc = after

    return step


def _assertion_failed(link: Link, passed: Names, _returned: Names) -> ControlStep:
    """`__assertfail(message, file, line, function, size)`: the launch stops with the assertion's text."""
    site = link.site()

    def step(m: Machine, _group: Group) -> list[Group]:
        lane, address = int(m.lanes()[0]), int(_argument(m, passed[0], np.uint64)[0]) if passed else 0
        m.reporter.trapped(m, site, printing.shown(printing.text_at(m, lane, address, _LONGEST)))
        m.stop()
        return []

    return step


WORK_OF_HEAP = 8
"""Work of one lane's call of `malloc` or `free`: lanes take turns."""


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
        found = [0 if start is None else m.memory.base + start for start in starts]
        _answer(m, returned, np.array(found, np.uint64))
        group.pc = after

    return step


def _free(link: Link, passed: Names, _returned: Names) -> ControlStep:
    """`free(pointer)`: null is nothing; what malloc did not give, or was freed before, is a mistake."""
    after, site = link.pc + 1, link.site()

    def step(m: Machine, group: Group) -> None:
        m.work += WORK_OF_HEAP * m.count
        for place, address in enumerate(_argument(m, passed[0], np.uint64).tolist()):
            heap = m.memory.heap
            if address and not (heap and heap.give_back(address - m.memory.base)):
                what = "frees an address that malloc or new did not give, or that was freed before"
                m.reporter.fault(m, site, FindingCode.BAD_FREE, what, lane=int(m.lanes()[place]))
        group.pc = after

    return step


SYSTEM: dict[str, Callable[[Link, Names, Names], ControlStep]] = {
    "vprintf": _printf,
    "__assertfail": _assertion_failed,
    "malloc": _malloc,
    "__nv_aligned_device_malloc": _malloc,
    "free": _free,
}
"""By their names in PTX; a module that defines one itself means its own."""
