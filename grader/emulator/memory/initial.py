"""What the variables of a module hold before a launch (PTX ISA section 5.4.4)."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from grader.errors import UnsupportedPtx
from grader.ptx import Address, Immediate, Numbers, Symbol
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from grader.ptx import Function, Module, Variable

FUNCTION_BASE = 0x6000_0000_0000
"""Generic addresses from which on functions, and nothing that can be read, lie."""

_FUNCTION_STEP = 16


def function_addresses(module: Module) -> dict[str, int]:
    """What a pointer to each function holds: a place of its own, where no memory is."""
    names = dict.fromkeys(function.name for function in module.functions)
    return {name: FUNCTION_BASE + _FUNCTION_STEP * number for number, name in enumerate(names)}


def initial_bytes(variable: Variable, addresses: Mapping[str, int], module: Module) -> NDArray[np.uint8]:
    """A variable's initialiser in memory; what it leaves out is zero.

    Raises UnsupportedPtx for the address of something that has none here, if any function uses the variable.
    """
    size = TYPE_BYTES[variable.type]
    lengths = [len(each.packed) // 8 if isinstance(each, Numbers) else 1 for each in variable.initial]
    content = np.zeros(max(variable.count, sum(lengths)), f"u{size}")
    places = accumulate(lengths, initial=0)
    for place, length, initial in zip(places, lengths, variable.initial, strict=False):
        if isinstance(initial, Numbers):
            content[place : place + length] = np.frombuffer(initial.packed, np.uint64).astype(content.dtype)
        elif isinstance(initial, Immediate):
            content[place] = np.uint64(initial.value & (2 ** (8 * size) - 1)).astype(content.dtype)
        elif initial.name in addresses:
            content[place] = _part(addresses[initial.name] + initial.offset, initial.mask)
        elif any(variable.name in _mentioned(function) for function in module.functions):
            raise UnsupportedPtx(f"{variable.name} = {initial.name}", variable.ptx_line)
    return content.view(np.uint8)[: variable.size]


def _part(address: int, mask: int) -> int:
    """The byte of an address that a mask such as ``0xFF00`` picks; all of it where there is no mask."""
    if not mask:
        return address
    lowest = (mask & -mask).bit_length() - 1
    return (address & mask) >> lowest


def _mentioned(function: Function) -> set[str]:
    """The variables, and functions, that the code of a function names."""
    operands = [operand for instruction in function.body for operand in instruction.operands]
    bases = [operand.base if isinstance(operand, Address) else operand for operand in operands]
    return {base.name for base in bases if isinstance(base, Symbol)}
