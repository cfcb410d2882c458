"""Words for addresses that an access may not go to: which array was meant, and how far it was missed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from grader.emulator.memory.memory import Allocation
from grader.emulator.naming import SharedArray, element_bytes, global_element, subscript
from grader.emulator.static.bounds import LocalArray
from grader.model import Access, FindingCode

if TYPE_CHECKING:
    from grader.emulator.machine.machine import Machine
    from grader.emulator.naming import Names
    from grader.emulator.static.bounds import Bound, Holder

_NULL = 4096
"""Addresses this near to 0 come of a null pointer and an index."""

_NUMBER = 1 << 32
"""An address below this is most likely a number that was taken for one."""

_NEAR = 1 << 31
"""Bytes from an array within which an address was likely meant for it."""


class Bad(NamedTuple):
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


class Outside(NamedTuple):
    """What an access out of bounds, or one that does not fit its type, went to, and the sentence."""

    code: FindingCode
    element: str
    """As a student would write it."""
    message: str
    meant: int | None = None
    """The flat index that was meant, where that is in an array."""

    def access(self, bad: Bad) -> Access:
        """The access as a record."""
        array = "" if self.meant is None else self.element.partition("[")[0]
        return Access(bad.verb, bad.space, array, () if self.meant is None else (self.meant,), bad.size)


def outside(m: Machine, names: Names, own: Bound | None, bad: Bad) -> Outside:
    """What was accessed out of bounds; ``own`` is what was meant."""
    if own is not None:
        holder = _nearest(own, bad.byte - (m.frame.local if own.space == "local" else 0))
        return _beyond(m, names, holder, bad)
    if bad.space == "shared":
        message = (
            f"{bad.verb}s shared memory at byte {bad.byte}, but the block has {m.shared_bytes} bytes of it"
        )
        return Outside(FindingCode.BEYOND_SHARED_MEMORY, f"shared[{bad.byte // bad.size}]", message)
    if bad.space == "local":
        return Outside(
            FindingCode.BEYOND_LOCAL_ARRAY, "local", f"{bad.verb}s a local array out of its bounds"
        )
    offset = bad.offset
    if m.memory.heap is not None and m.memory.heap.was_freed(offset):
        message = f"{bad.verb}s memory that was freed, at {bad.byte:#x}"
        return Outside(FindingCode.FREED_MEMORY, hex(bad.byte), message)
    array = m.memory.nearest(offset)
    if array is not None and array.start - _NEAR < offset < array.end + _NEAR:
        return _beyond_global(array, bad)
    return _nowhere(bad)


def misplaced(names: Names, own: Bound | None, bad: Bad) -> Outside:
    """What is wrong with an address that is no multiple of what is accessed at once."""
    what, given = f"{bad.verb}s {bad.size} bytes at", hex(bad.byte & (2**64 - 1))
    if own is not None and own.low <= bad.byte < own.high and bad.space != "local":
        holder = _nearest(own, bad.byte)
        if isinstance(holder, Allocation):
            into = (bad.offset - holder.start) % holder.itemsize
            element = ("a place inside " if into else "") + global_element(holder, bad.offset)
        else:
            element = names.shared_element(bad.byte, max(1, bad.byte & -bad.byte))
        message = f"{what} {element}, whose address is not a multiple of {bad.size}"
        return Outside(FindingCode.MISALIGNED_ELEMENT, given, message)
    message = f"{what} {bad.space or 'generic'} address {given}, which is not a multiple of {bad.size}"
    return Outside(FindingCode.MISALIGNED_ADDRESS, given, message)


def _nearest(own: Bound, byte: int) -> Holder:
    """Of the variables that an address may stem from the one that it is nearest to."""

    def distance(holder: Holder) -> int:
        end = holder.end if isinstance(holder, Allocation) else holder.start + holder.size
        return max(holder.start - byte, byte - end + 1, 0)

    return min(own.holders, key=distance)


def _beyond(m: Machine, names: Names, holder: Holder, bad: Bad) -> Outside:
    if isinstance(holder, Allocation):
        return _beyond_global(holder, bad)
    if isinstance(holder, LocalArray):
        index = (bad.byte - m.frame.local - holder.start) // bad.size
        total = holder.size // bad.size
        message = f"{bad.verb}s element {index} of a local array with room for {total}, {_by(index, total)}"
        return Outside(FindingCode.BEYOND_LOCAL_ARRAY, f"local[{index}]", message)
    array = next(each for each in names.shared if each.start == holder.start and each.size == holder.size)
    return _beyond_shared(names, array, bad)


def _beyond_shared(names: Names, array: SharedArray, bad: Bad) -> Outside:
    """Past the end of a shared array, where another may begin."""
    itemsize = array.itemsize(bad.size)
    index, total = (bad.byte - array.start) // itemsize, array.size // itemsize
    element = array.name + subscript(index, array.shape, outside=True)
    if not total:
        message = f"{bad.verb}s {element}, but the launch gives {array.name} no dynamic shared memory"
        return Outside(FindingCode.NO_DYNAMIC_SHARED, element, message, index)
    lands = names.shared_array(bad.byte)
    other = names.shared_element(bad.byte, bad.size) if lands and lands is not array else ""
    shape = " x ".join(str(extent) for extent in array.shape) or str(total)
    missed = _by(index, total) + (other and f", which is {other}")
    message = f"{bad.verb}s {element}, {missed}: {array.name} has {shape} elements"
    code = FindingCode.INTO_OTHER_ARRAY if other else FindingCode.BEYOND_ARRAY
    return Outside(code, element, message, index)


def _beyond_global(array: Allocation, bad: Bad) -> Outside:
    """Past the end of an argument or a variable; or inside one that only the host may write."""
    offset = bad.offset
    if array.start <= offset < array.end and array.constant:
        element = global_element(array, offset, bad.size)
        message = f"{bad.verb}s {element}, but {array.name} is __constant__: only the host can write it"
        index = (offset - array.start) // element_bytes(array, bad.size)
        return Outside(FindingCode.CONSTANT_WRITTEN, element, message, index)
    itemsize = element_bytes(array, bad.size)
    index, total = (offset - array.start) // itemsize, (array.end - array.start) // itemsize
    extents = array.shape if itemsize == array.itemsize else ()
    shape = " x ".join(str(extent) for extent in extents) or str(total)
    message = f"{bad.verb}s {array.name}[{index}], {_by(index, total)}: {array.name} has {shape} elements"
    return Outside(FindingCode.BEYOND_ARRAY, f"{array.name}[{index}]", message, index)


def _by(index: int, total: int) -> str:
    """By how much an index misses."""
    if 0 <= index < total:
        return "partly past its end"
    return f"{-index} before its start" if index < 0 else f"{index - total + 1} past its end"


def _nowhere(bad: Bad) -> Outside:
    """An address that is near no array, and where it may come from."""
    byte, address = bad.byte, hex(bad.byte & (2**64 - 1))
    if 0 <= byte < _NULL:
        code, origin = FindingCode.NULL_POINTER, "a null pointer"
    elif -_NUMBER < byte < 0:
        code, origin = FindingCode.STRAY_POINTER, "a pointer that was itself read from nowhere"
    elif 0 <= byte < _NUMBER:
        code, origin = FindingCode.NUMBER_AS_POINTER, "a number in place of a pointer"
    else:
        code, origin = FindingCode.UNSET_POINTER, "a pointer that was never set?"
    message = f"{bad.verb}s address {address}, which belongs to no array: {origin}"
    return Outside(code, address, message)
