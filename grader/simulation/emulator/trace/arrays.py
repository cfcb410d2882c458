"""The arrays that a traced block touches, and the local variables in which its threads gather a result.

A trace has, for each array, its number, its elements and the part of it worth showing.

The -O0 build keeps them in registers, which have no names. A value counts as gathered if it is computed, by
an addition or the like, from its own value one iteration of a loop before; or if its line shows this
(``v += …``). A loop's counter is computed in that way, too, but from no value of memory or of another thread.
"""

from __future__ import annotations

import math
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.precision import numbers as as_numbers
from grader.base.precision import type_name
from grader.base.records import mutable
from grader.model.trace import TracedArray, Window
from grader.simulation.emulator.machine.values import DTYPES
from grader.simulation.ptx import Address, Register, Symbol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from grader.model import Argument
    from grader.model.trace import Numbers
    from grader.simulation.emulator.machine.machine import Machine
    from grader.simulation.emulator.memory.memory import Allocation, Region, Target
    from grader.simulation.emulator.naming import SharedArray
    from grader.simulation.ptx import Function, Instruction

WHOLE = 4096
"""Maximum number of elements of an array that is shown as a whole."""

MOST_SHOWN = 8192
"""Elements of a window at most."""

MOST_COLUMNS = 512

_SIZES = (1, 2, 4, 8)

_HELD = ("in", "out", "inout", "const")
"""The directions of arrays that the launch is given."""

_UNTYPED = np.dtype("V1")

_GATHERING = {"add", "sub", "fma", "mad", "mul", "max", "min", "or", "and", "xor"}

_PASSED_ON = {"mov", "selp", "cvt", "neg", "abs"}

_FLOATS = ("f16", "f32", "f64")

_NUMBERS = (*_FLOATS, "s32", "u32", "b32", "s64", "u64", "b64")

_FROM_ELSEWHERE = {"ld", "ldu", "shfl", "atom", "vote", "match", "redux"}

_COMPOUND = re.compile(r"(?:^|[;{)])\s*([A-Za-z_]\w*)\s*(\[[^;]*?\])?\s*(?:[-+*&|^]|<<|>>)=[^=]")

_SPELT_OUT = re.compile(r"(?:^|[;{)]|\b(?:float|double|int|unsigned))\s*([A-Za-z_]\w*)\s*=[^=;]*\b\1\b")

_COMMENT = re.compile(r"//.*|/\*.*?\*/")


@mutable
class TouchedArray:
    """An array as far as it is known: where it lies, how its elements are read, which were touched."""

    name: str
    space: str
    start: int
    itemsize: int
    count: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    direction: str = ""
    before: NDArray[Any] | None = None
    """The contents before the launch; None where they hold nothing yet."""
    elements: set[int] = field(default_factory=set)

    def read(self, region: Region, start: int) -> Numbers:
        """All elements from byte ``start`` of a region; None where nothing was stored yet."""
        size = self.count * self.itemsize
        values = as_numbers(region.bytes[start : start + size].copy().view(self.dtype)).tolist()
        written_bytes = region.written(start, start + size).reshape(-1, self.itemsize)
        stored: list[bool] = np.all(written_bytes, axis=1).tolist()
        return tuple(value if is_stored else None for value, is_stored in zip(values, stored, strict=True))


@mutable
class Arrays:
    """The arrays of a launch by number, in the order in which the block reaches them."""

    arguments: Mapping[str, Argument]
    touched: list[TouchedArray] = field(default_factory=list)
    _numbers: dict[tuple[str, int], int] = field(default_factory=dict)

    def holding(
        self, m: Machine, target: Target, index: NDArray[np.int64], size: int, kind: str, base: int
    ) -> list[tuple[int, Any, int]]:
        """The arrays that bytes lie in: number, mask of the bytes, and start of the array."""
        if target.space != "shared":
            parts_of_global = self.of_global(m, index, size, kind)
            return [(number, part, self.touched[number].start) for number, part in parts_of_global]
        parts = []
        for array in m.reporter.names.shared:
            start = base + array.start
            part = (index >= start) & (index < start + array.size)
            if part.any() and array.size >= size:
                parts.append((self.of_shared(array, size, kind), part, start))
        return parts[:1] if all(part.all() for _, part, _ in parts) else parts

    def of_global(
        self, m: Machine, index: NDArray[np.int64], size: int, kind: str = ""
    ) -> Iterator[tuple[int, Any]]:
        """For each array that some of the bytes lie in, its number and these bytes (a mask or a slice)."""
        holder = m.memory.holding(int(index.min()), int(index.max()) + size)
        if holder is not None:
            yield self._global(m, holder, size, kind), slice(None)
            return
        for allocation in m.memory.touching(int(index.min()), int(index.max()) + size):
            within = (index >= allocation.start) & (index + size <= allocation.end)
            if within.any():
                yield self._global(m, allocation, size, kind), within

    def _global(self, m: Machine, allocation: Allocation, accessed: int, kind: str) -> int:
        """The number of an array; where its element type is unknown the first access determines it."""
        key = ("global", allocation.start)
        if key not in self._numbers:
            argument = self.arguments.get(allocation.name) if allocation.direction in _HELD else None
            if argument is not None and argument.value.nbytes == allocation.end - allocation.start:
                value = _as_accessed(np.asanyarray(argument.value), accessed, kind)
                dtype, contents = value.dtype, as_numbers(value).reshape(-1)
                before = None if argument.direction == "out" else contents
            else:
                size = allocation.itemsize if allocation.itemsize in _SIZES else 1
                dtype = np.dtype(f"f{size}" if size in (4, 8) else f"i{size}")
                before = m.memory.bytes[allocation.start : allocation.end].copy().view(dtype)
            count = (allocation.end - allocation.start) // dtype.itemsize
            shape = allocation.shape or (count,)
            shape = shape if math.prod(shape) == count else (count,)
            touched = TouchedArray(
                allocation.name, "global", allocation.start, dtype.itemsize, count, dtype, shape
            )
            touched.direction, touched.before = allocation.direction, before
            self._enter(key, touched)
        return self._numbers[key]

    def of_shared(self, array: SharedArray, size: int, kind: str) -> int:
        """The number of a shared array; the first access gives its type, or a later one that knows better."""
        key = ("shared", array.start)
        if key not in self._numbers:
            itemsize = array.itemsize(size)
            itemsize, shape = (itemsize, array.shape) if itemsize in _SIZES else (size, ())
            dtype, count = _type(kind, itemsize), array.size // itemsize
            self._enter(
                key,
                TouchedArray(array.name, "shared", array.start, itemsize, count, dtype, shape or (count,)),
            )
        number = self._numbers[key]
        touched = self.touched[number]
        if kind in ("f16", "f32", "f64") and DTYPES[kind].itemsize == touched.itemsize:
            touched.dtype = DTYPES[kind]
        return number

    def _enter(self, key: tuple[str, int], touched: TouchedArray) -> None:
        self._numbers[key] = len(self.touched)
        self.touched.append(touched)

    def records(self) -> tuple[TracedArray, ...]:
        """The arrays as records, each with the window that is worth showing."""
        return tuple(map(_record, self.touched))


def _as_accessed(content: NDArray[Any], size: int, kind: str) -> NDArray[Any]:
    """The content of an array, by an access to it if it is plain bytes (``V1``); masked elements stay so."""
    if content.dtype != _UNTYPED:
        return content
    dtype = _type(kind, size) if size in _SIZES and content.size % size == 0 else np.dtype(np.int8)
    mask = np.ma.getmaskarray(content).reshape(-1, dtype.itemsize).any(axis=1)
    return np.ma.masked_array(np.ma.getdata(content).view(dtype), mask=mask)


def _type(kind: str, size: int) -> np.dtype[Any]:
    """Type of elements that are accessed as a PTX type: without a sign only where nothing else fits."""
    dtype = DTYPES.get(kind)
    if dtype is not None and dtype.kind == "f" and dtype.itemsize == size:
        return dtype
    return np.dtype(f"i{size}")


def _record(touched: TouchedArray) -> TracedArray:
    columns = touched.shape[-1] if touched.shape else touched.count
    window = window_of(touched.elements, touched.count, columns)
    values: Numbers = ()
    if touched.before is not None:
        rows = touched.before.reshape(-1, columns)[window.first_row : window.end_row]
        values = tuple(rows[:, window.first_column : window.end_column].reshape(-1).tolist())
    elif touched.space == "global":
        cells = (window.end_row - window.first_row) * (window.end_column - window.first_column)
        values = (None,) * cells
    return TracedArray(
        touched.name,
        touched.space,
        type_name(touched.dtype),
        touched.shape,
        window,
        touched.direction,
        values,
    )


def window_of(elements: set[int], count: int, columns: int) -> Window:
    """The part of an array to show: all of a small one, else the elements around the touched ones."""
    rows = -(-count // max(1, columns))
    if count <= WHOLE:
        return Window(0, rows, 0, columns)
    if not elements:
        return Window(0, 0, 0, 0, cropped=True)
    index = np.fromiter(elements, np.int64)
    row, column = index // columns, index % columns
    first_row, end_row = int(row.min()), int(row.max()) + 1
    first_column, end_column = int(column.min()), int(column.max()) + 1
    most = MOST_COLUMNS if rows > 1 else MOST_SHOWN
    shown_columns = min(end_column, first_column + most)
    shown_rows = min(end_row, first_row + max(1, MOST_SHOWN // max(1, shown_columns - first_column)))
    cropped = (shown_rows, shown_columns) != (end_row, end_column)
    return Window(first_row, shown_rows, first_column, shown_columns, cropped)


def values_at(target: Target, index: NDArray[np.int64], size: int, dtype: np.dtype[Any]) -> Numbers:
    """Values at some bytes; None where nothing was stored yet."""
    missing = target.region.uninitialised(index, size)
    read = as_type(target.region.read(index, np.dtype(f"u{size}")), dtype).tolist()
    if missing is None:
        return tuple(read)
    is_set = np.broadcast_to(~missing, index.shape)
    return tuple(value if is_known else None for value, is_known in zip(read, is_set, strict=True))


def as_type(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The same bits as another type of the same size; of another size as signed integers."""
    values = np.atleast_1d(values)
    if values.dtype.itemsize == dtype.itemsize:
        return as_numbers(values.view(dtype))
    return values if values.dtype.kind == "f" else values.view(f"i{values.dtype.itemsize}")


def numbers(values: NDArray[Any]) -> Numbers:
    """An array as Python's numbers."""
    return tuple(values.tolist())


@mutable
class _Values:
    """Definitions of the values in the registers of a function."""

    function: Function
    definitions: dict[str, list[Instruction]] = field(default_factory=dict)
    _slices: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Note the definitions of each register."""
        for instruction in self.function.body:
            if instruction.operands and isinstance(instruction.operands[0], Register):
                self.definitions.setdefault(instruction.operands[0].name, []).append(instruction)

    def behind(self, register: str) -> frozenset[str]:
        """The registers that a value is computed from, by arithmetic alone; itself among them."""
        if register not in self._slices:
            sources, waiting = {register}, [register]
            while waiting:
                for instruction in self.definitions.get(waiting.pop(), ()):
                    if instruction.opcode in _GATHERING | _PASSED_ON:
                        new = set(_registers(instruction)) - sources
                        sources |= new
                        waiting.extend(new)
            self._slices[register] = frozenset(sources)
        return self._slices[register]

    def from_elsewhere(self, register: str) -> bool:
        """True if a value depends on memory, on another thread, or on the result of a function."""
        parameters = {variable.name for variable in self.function.parameters}
        return any(
            instruction.opcode in _FROM_ELSEWHERE and not _is_parameter(instruction, parameters)
            for source in self.behind(register)
            for instruction in self.definitions.get(source, ())
        )


def gathered(
    function: Function, line_of: Callable[[Instruction], int | None], source: Sequence[str]
) -> dict[int, int]:
    """The instructions of a function that gather, as index → line; one for each line, its last."""
    values, index_of = _Values(function), dict[int, int]()
    for index, instruction in enumerate(function.body):
        line = line_of(instruction)
        if line and _may_gather(instruction) and _gathers(values, instruction, _text(source, line)):
            index_of[line] = index
    return {index: line for line, index in index_of.items()}


def name_of(line: int, source: Sequence[str]) -> str:
    """The variable that a line adds to, as far as the line shows it; empty where it does not."""
    text = _text(source, line)
    match = _COMPOUND.search(text) or _SPELT_OUT.search(text)
    return match[1] if match else ""


def _text(source: Sequence[str], line: int) -> str:
    return _COMMENT.sub("", source[line - 1][:500]) if 0 < line <= len(source) else ""


def _may_gather(instruction: Instruction) -> bool:
    kind = instruction.modifiers[-1] if instruction.modifiers else ""
    return (
        instruction.opcode in _GATHERING
        and kind in _NUMBERS
        and isinstance(instruction.operands[0], Register)
    )


def _gathers(values: _Values, instruction: Instruction, text: str) -> bool:
    """True if an instruction accumulates: its result is among its operands, with a value to gather."""
    result = instruction.operands[0].name  # type: ignore[union-attr]
    compound = _COMPOUND.search(text)
    says_so = compound is not None and not compound[2]
    parts = _registers(instruction)
    carried_parts = [part for part in parts if result in values.behind(part)]
    if not carried_parts and not says_so:
        return False
    other_parts = [part for part in parts if part not in carried_parts] or parts
    is_float = instruction.modifiers[-1] in _FLOATS
    if is_float:
        return len(parts) > 1
    return any(values.from_elsewhere(part) for part in other_parts)


def _registers(instruction: Instruction) -> list[str]:
    return [operand.name for operand in instruction.operands[1:] if isinstance(operand, Register)]


def _is_parameter(instruction: Instruction, parameters: set[str]) -> bool:
    """True if a load reads a parameter of the function itself: the same in every turn."""
    address = instruction.operands[-1]
    base = address.base if isinstance(address, Address) else None
    return "param" in instruction.modifiers and isinstance(base, Symbol) and base.name in parameters
