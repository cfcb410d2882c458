"""The arguments of a launch: arrays that the oracle draws, outputs that hold poison, scalars and structs.

Outputs hold poison before a launch, so that unwritten elements differ from written ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grader.base.arithmetic import Name, evaluate, number_for
from grader.base.errors import OurError, UsageError
from grader.base.precision import BFLOAT16, bits, encoded, numpy_type, struct_type
from grader.model import Argument, FunctionInterface, KernelInterface, Parameter

Array: TypeAlias = NDArray[Any]
Shape: TypeAlias = Mapping[str, int]

_FLOAT_POISON = {2: 0x7ED1, 4: 0x7FD15EA5, 8: 0x7FFD15EA5ED15EA5}
"""Quiet NaNs with a payload that no arithmetic makes by itself, by size in bytes."""

_BFLOAT16_POISON = 0x7FD1

_INTEGER_POISON = 0xD15EA5ED_D15EA5ED
"""Cut to the size of the integer; negative where it is signed."""


def make_arguments(
    interface: KernelInterface | FunctionInterface,
    shape: Shape,
    arrays: Mapping[str, Array],
    constants: Shape,
) -> tuple[Argument, ...]:
    """The arguments of a launch, in the order of the interface; a struct comes before the arrays behind it.

    ``arrays`` come from the oracle; ``out`` arrays are filled with poison; scalars are computed from
    ``shape`` and ``constants``.

    Raises:
        UsageError: an expression has no value, or the value does not fit its type.
        OurError: the oracle gave no such array, or one of another shape than the interface asks for.

    """
    names = {**constants, **shape}
    arguments: list[Argument] = []
    for parameter in interface.parameters:
        if parameter.fields:
            arguments.append(_struct(parameter, names))
        elif parameter.direction == "value":
            arguments.append(Argument(parameter.name, parameter.direction, _scalar(parameter, names)))
        arguments += [
            Argument(
                array.name, array.direction, _array(array, names, arrays), is_parameter=array is parameter
            )
            for array in parameter.arrays
        ]
    return (*arguments, *(_symbol(symbol, names, arrays) for symbol in interface.symbols))


def _symbol(symbol: Parameter, names: Shape, arrays: Mapping[str, Array]) -> Argument:
    """Content of a variable of the student's file; a scalar is an array of one element."""
    if symbol.direction == "value":
        content, direction = np.array([_scalar(symbol, names)]), "in"
    else:
        content, direction = _array(symbol, names, arrays), symbol.direction
    return Argument(symbol.name, direction, content, is_parameter=False, symbol=symbol.name)


def _struct(parameter: Parameter, names: Shape) -> Argument:
    """A struct as its bytes, with zeros for the pointers in it and between its fields."""
    layout = struct_type((field.name, field.dtype, field.direction != "value") for field in parameter.fields)
    content = np.zeros(1, layout)
    for field in parameter.fields:
        if field.direction == "value":
            content[field.name] = bits(_scalar(field, names))
    at = {name: entry[1] for name, entry in (layout.fields or {}).items()}
    offsets = [at[field.name] for field in parameter.fields if field.direction != "value"]
    pointers = tuple(zip((array.name for array in parameter.arrays), offsets, strict=True))
    return Argument(parameter.name, "value", content.view(f"V{layout.itemsize}")[0], pointers=pointers)


def _array(parameter: Parameter, names: Shape, arrays: Mapping[str, Array]) -> Array:
    extents = tuple(evaluate(extent, names) for extent in parameter.extents)
    if parameter.direction == "out":
        return np.full(extents, poison(numpy_type(parameter.dtype)))
    if parameter.name not in arrays:
        given = ", ".join(map(str, arrays)) or "nothing"
        raise OurError(
            f"the oracle's `inputs` gives no `{parameter.name}`, which the kernel reads; it gives {given}"
        )
    array = arrays[parameter.name]
    if array.shape != extents:
        raise OurError(
            f"the oracle's {parameter.name} has shape {array.shape}, the assignment says {extents}"
        )
    return encoded(array, parameter.dtype)


def _scalar(parameter: Parameter, names: Shape) -> np.generic:
    if parameter.value is None and parameter.name not in names:
        raise UsageError(f"`{parameter.name}` is neither a dimension nor a constant; give it a value")
    number = number_for(parameter.dtype, parameter.value or Name(parameter.name), names)
    try:
        value: np.generic = _element(number, parameter.dtype)
    except OverflowError as problem:
        raise UsageError(f"`{parameter.name}` is {number}, which {parameter.dtype} cannot hold") from problem
    return value


def _element(number: float, dtype: str) -> np.generic:
    """A number in a type; raises OverflowError where an integer type cannot hold it."""
    if dtype != "bfloat16":
        element: np.generic = np.dtype(dtype).type(number)
        return element
    rounded: np.generic = encoded(np.array([number]), dtype)[0]
    return rounded


def poison(dtype: np.dtype[Any] | str) -> np.generic:
    """Value of an output element of this type before a launch: a marked NaN, or an unlikely integer.

    Raises:
        OurError: there is no poison for this type.

    """
    kind = np.dtype(dtype)
    if kind == BFLOAT16:
        short: np.generic = np.array([_BFLOAT16_POISON], np.uint16).view(kind)[0]
        return short
    if kind.kind == "f" and kind.itemsize in _FLOAT_POISON:
        bits = _FLOAT_POISON[kind.itemsize]
    elif kind.kind in "iu":
        bits = _INTEGER_POISON % (1 << 8 * kind.itemsize)
    else:
        raise OurError(f"no poison is defined for arrays of {kind}")
    marked: np.generic = np.array([bits], f"u{kind.itemsize}").view(kind)[0]
    return marked
