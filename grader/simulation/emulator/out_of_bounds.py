"""Addresses that an access may not go to: which array was meant, and how far it was missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.model import Access, Detail, FindingCode, Named
from grader.simulation.emulator.memory.layout import LocalArray
from grader.simulation.emulator.memory.memory import Allocation
from grader.simulation.emulator.naming import SharedArray, element_bytes, global_element, subscript

if TYPE_CHECKING:
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.layout import Bound, Holder
    from grader.simulation.emulator.naming import Names

_NULL = 4096
"""Addresses this near to 0 come of a null pointer and an index."""

_NUMBER = 1 << 32
"""An address below this is most likely a number that was taken for one."""

_NEAR = 1 << 31
"""Bytes from an array within which an address was likely meant for it."""


class BadAccess(NamedTuple):
    """An access of ``size`` bytes that should not be; ``verb`` is ``read``, ``write`` or ``update``.

    ``byte`` counts within the block's shared memory or the thread's local memory, else it is an address, and
    global memory begins at ``base``.
    """

    verb: str
    space: str
    byte: int
    size: int
    base: int

    @property
    def offset(self) -> int:
        """The byte of global memory."""
        return self.byte - self.base


class BadTarget(NamedTuple):
    """Target of an access out of bounds, or of an access that does not fit its type."""

    code: FindingCode
    element: str
    """The element as a student would write it."""
    details: Named[Detail] = ()
    meant: int | None = None
    """The flat index that was meant, where that is in an array."""

    def access(self, bad: BadAccess) -> Access:
        """The access as a record."""
        array = "" if self.meant is None else self.element.partition("[")[0]
        return Access(bad.verb, bad.space, array, () if self.meant is None else (self.meant,), bad.size)


def outside(m: Machine, names: Names, bound: Bound | None, bad: BadAccess) -> BadTarget:
    """Target of an access out of bounds; ``bound`` is the bound of the intended variable."""
    if bound is not None:
        holder = _nearest(bound, bad.byte - (m.frame.local if bound.space == "local" else 0))
        return _beyond(m, names, holder, bad)
    if bad.space == "shared":
        details = (("byte", bad.byte), ("bytes", m.shared_bytes))
        return BadTarget(FindingCode.BEYOND_SHARED_MEMORY, f"shared[{bad.byte // bad.size}]", details)
    if bad.space == "local":
        return BadTarget(FindingCode.OUTSIDE_LOCAL_ARRAY, "local")
    offset = bad.offset
    if m.memory.heap is not None and m.memory.heap.was_freed(offset):
        return BadTarget(FindingCode.FREED_MEMORY, hex(bad.byte))
    array = m.memory.nearest(offset)
    if array is not None and array.start - _NEAR < offset < array.end + _NEAR:
        return _beyond_global(array, bad)
    return _nowhere(bad)


def misplaced(names: Names, bound: Bound | None, bad: BadAccess) -> BadTarget:
    """Target of a misaligned access: its address is no multiple of the size accessed at once."""
    address = hex(bad.byte & (2**64 - 1))
    if bound is not None and bound.low <= bad.byte < bound.high and bad.space != "local":
        holder = _nearest(bound, bad.byte)
        if isinstance(holder, Allocation):
            into = (bad.offset - holder.start) % holder.itemsize
            code = FindingCode.MISALIGNED_INSIDE_ELEMENT if into else FindingCode.MISALIGNED_ELEMENT
            return BadTarget(code, address, (("other", global_element(holder, bad.offset)),))
        element = names.shared_element(bad.byte, max(1, bad.byte & -bad.byte))
        return BadTarget(FindingCode.MISALIGNED_ELEMENT, address, (("other", element),))
    return BadTarget(FindingCode.MISALIGNED_ADDRESS, address)


def _nearest(bound: Bound, byte: int) -> Holder:
    """The nearest of the variables that an address may stem from."""

    def distance(holder: Holder) -> int:
        end = holder.end if isinstance(holder, Allocation) else holder.start + holder.size
        return max(holder.start - byte, byte - end + 1, 0)

    return min(bound.holders, key=distance)


def _beyond(m: Machine, names: Names, holder: Holder, bad: BadAccess) -> BadTarget:
    if isinstance(holder, Allocation):
        return _beyond_global(holder, bad)
    if isinstance(holder, LocalArray):
        index = (bad.byte - m.frame.local - holder.start) // bad.size
        total = holder.size // bad.size
        details = (("index", index), ("elements", total))
        return BadTarget(FindingCode.BEYOND_LOCAL_ARRAY, f"local[{index}]", details)
    array = next(
        shared for shared in names.shared if shared.start == holder.start and shared.size == holder.size
    )
    return _beyond_shared(names, array, bad)


def _beyond_shared(names: Names, array: SharedArray, bad: BadAccess) -> BadTarget:
    """Target past the end of a shared array, where another may begin."""
    itemsize = array.itemsize(bad.size)
    index, total = (bad.byte - array.start) // itemsize, array.size // itemsize
    element = array.name + subscript(index, array.shape, outside=True)
    if not total:
        return BadTarget(FindingCode.NO_DYNAMIC_SHARED, element, (), index)
    lands = names.shared_array(bad.byte)
    details: Named[Detail] = (("index", index), ("elements", total), ("extents", array.shape))
    if not lands or lands is array:
        return BadTarget(FindingCode.BEYOND_ARRAY, element, details, index)
    other = names.shared_element(bad.byte, bad.size)
    return BadTarget(FindingCode.INTO_OTHER_ARRAY, element, (*details, ("other", other)), index)


def _beyond_global(array: Allocation, bad: BadAccess) -> BadTarget:
    """Target past the end of an argument or a variable; or inside one that only the host may write."""
    offset = bad.offset
    if array.start <= offset < array.end and array.constant:
        element = global_element(array, offset, bad.size)
        index = (offset - array.start) // element_bytes(array, bad.size)
        return BadTarget(FindingCode.CONSTANT_WRITTEN, element, (), index)
    itemsize = element_bytes(array, bad.size)
    index, total = (offset - array.start) // itemsize, (array.end - array.start) // itemsize
    extents = array.shape if itemsize == array.itemsize else ()
    details: Named[Detail] = (("index", index), ("elements", total), ("extents", extents))
    return BadTarget(FindingCode.BEYOND_ARRAY, f"{array.name}[{index}]", details, index)


def _nowhere(bad: BadAccess) -> BadTarget:
    """An address that is near no array, and where it may come from."""
    byte, address = bad.byte, hex(bad.byte & (2**64 - 1))
    if 0 <= byte < _NULL:
        return BadTarget(FindingCode.NULL_POINTER, address)
    if -_NUMBER < byte < 0:
        return BadTarget(FindingCode.STRAY_POINTER, address)
    if 0 <= byte < _NUMBER:
        return BadTarget(FindingCode.NUMBER_AS_POINTER, address)
    return BadTarget(FindingCode.UNSET_POINTER, address)
