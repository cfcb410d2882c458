"""A program: a module whose functions are linked when they are first called.

The initial values of the module's variables are computed here, too (PTX ISA section 5.4.4).
"""

from __future__ import annotations

from dataclasses import field, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import UnsupportedPtx
from grader.base.records import mutable
from grader.simulation.emulator.linking.provenance import provenance_of
from grader.simulation.emulator.machine.geometry import RESERVED_BYTES
from grader.simulation.ptx import Address, Immediate, Numbers, Register, Symbol
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from grader.simulation.emulator.linking.provenance import Origins, Provenance
    from grader.simulation.emulator.machine.state import Code
    from grader.simulation.ptx import Function, Instruction, Location, Module, Variable

FUNCTION_BASE = 0x6000_0000_0000
"""Generic addresses from which on functions, and nothing that can be read, lie."""

_FUNCTION_STEP = 16


@mutable
class Program:
    """A module whose functions are linked by ``linker`` when they are first called."""

    module: Module
    addresses: Mapping[str, int]
    """Address of each variable with a fixed place: an offset for shared memory, else a generic address."""
    linker: Callable[[Program, Function], Code]
    code: dict[tuple[str, Location | None], Code] = field(default_factory=dict)
    sites: list[Instruction] = field(default_factory=list)
    """The instructions that touch memory or hold lanes: the targets of findings."""
    origins: list[tuple[Origins, Mapping[str, int]]] = field(default_factory=list)
    """For each site the origins of its address, and the places of the variables of its function's frame."""
    copies: set[int] = field(default_factory=set)
    """The sites that load values which are only stored again: copying a struct is no use of its padding."""
    refused: list[UnsupportedPtx] = field(default_factory=list)
    """The instructions that are an error if a lane reaches them."""
    _functions: dict[int, str] = field(default_factory=dict)

    def link(self, name: str, call: Location | None = None) -> Code:
        """The code of a function; raises UnsupportedPtx if the module does not define it.

        ``call`` is where it is called. A function that comes from another file than the kernel (the
        ``atomicAdd`` of a header) counts as inlined there, so that findings name the student's own line.
        """
        try:
            function = self.module.function(name)
        except KeyError:
            raise UnsupportedPtx(f"call {name}", 0) from None
        inlined_at = caller_of_header(function, call)
        if (name, inlined_at) not in self.code:
            self.code[name, inlined_at] = self.linker(self, _inlined(function, inlined_at))
        return self.code[name, inlined_at]

    def defines(self, name: str) -> bool:
        """True if the module has a body for a function."""
        return any(function.name == name and function.defined for function in self.module.functions)

    def function_at(self, address: int) -> str:
        """The function that a pointer points to; empty if there is none."""
        if not self._functions:
            names = (function.name for function in self.module.functions)
            self._functions |= {self.addresses[name]: name for name in names}
        return self._functions.get(address, "")

    def provenance(self) -> Provenance:
        """Origins of the addresses of the module."""
        return provenance_of(self.module)

    def sources(self, instruction: Instruction) -> tuple[tuple[str, int], ...]:
        """The files and lines that an instruction stems from, as `UnsupportedPtx` has them."""
        files, location = dict(self.module.files), instruction.location
        lines = []
        while location is not None:
            lines.append((files.get(location.file, "?").rsplit("/", 1)[-1], location.line))
            location = location.inlined_at
        return tuple(lines)


def caller_of_header(function: Function, call: Location | None) -> Location | None:
    """The call, if no line of a function is in the file that the outermost caller is in; else None."""
    outermost = call
    while outermost and outermost.inlined_at:
        outermost = outermost.inlined_at
    if outermost is None:
        return None
    locations = (instruction.location for instruction in function.body)
    return call if all(at is None or at.file != outermost.file for at in locations) else None


def within(location: Location | None, call: Location | None) -> Location | None:
    """A location in a function that counts as inlined at a call, if there is one."""
    if call is None or location is None:
        return location or call
    return replace(location, inlined_at=within(location.inlined_at, call))


def _inlined(function: Function, call: Location | None) -> Function:
    """A function with each of its locations counted as inlined at a call."""
    if call is None:
        return function
    return replace(
        function, body=tuple(replace(ins, location=within(ins.location, call)) for ins in function.body)
    )


def function_addresses(*modules: Module) -> dict[str, int]:
    """Value of a pointer to each function: an address of its own, where no memory is.

    Several modules are the builds of one file: a function has the same address in all of them, for a pointer
    that a launch of one build leaves in memory may be followed in another.
    """
    names = dict.fromkeys(function.name for module in modules for function in module.functions)
    return {name: FUNCTION_BASE + _FUNCTION_STEP * number for number, name in enumerate(names)}


def reserved_bytes_of(module: Module) -> int:
    """Shared memory that the system reserves in each block; none where no code asks where it is."""
    asks = any(
        isinstance(operand, Register) and operand.name.startswith("%reserved_smem")
        for function in module.functions
        for instruction in function.body
        for operand in instruction.operands
    )
    return RESERVED_BYTES if asks else 0


def initial_bytes(variable: Variable, addresses: Mapping[str, int], module: Module) -> NDArray[np.uint8]:
    """A variable's initialiser in memory; omitted parts are zero.

    Raises UnsupportedPtx for the address of something that has none here, if any function uses the variable.
    """
    size = TYPE_BYTES[variable.type]
    lengths = [
        len(initial.packed) // 8 if isinstance(initial, Numbers) else 1 for initial in variable.initial
    ]
    content = np.zeros(max(variable.count, sum(lengths)), f"u{size}")
    starts = accumulate(lengths, initial=0)
    for start, length, initial in zip(starts, lengths, variable.initial, strict=False):
        if isinstance(initial, Numbers):
            content[start : start + length] = np.frombuffer(initial.packed, np.uint64).astype(content.dtype)
        elif isinstance(initial, Immediate):
            content[start] = np.uint64(initial.value & (2 ** (8 * size) - 1)).astype(content.dtype)
        elif initial.name in addresses:
            content[start] = _part(addresses[initial.name] + initial.offset, initial.mask)
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
