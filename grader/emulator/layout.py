"""Where everything lies before a launch: variables, arrays, shared memory, each with its bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.emulator.memory import GLOBAL_BASE, GlobalMemory
from grader.emulator.naming import SharedArray, symbol_name
from grader.errors import UnsupportedPtx
from grader.ptx import Immediate
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from grader.emulator.memory import Allocation
    from grader.model import Argument, Launch
    from grader.ptx import Function, Module, Variable

LOCAL_BYTES = 1024
"""Local memory of a thread that calls functions: its stack of frames, as large as CUDA's default."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The memory of a launch.

    ``arrays`` pairs each array argument with its place. ``addresses`` gives every variable's generic
    address, or its offset where it is shared; they are the same in every launch of a kernel, because
    the module's variables come before the arguments.
    """

    memory: GlobalMemory
    arrays: tuple[tuple[Argument, NDArray[Any], Allocation], ...]
    shared: tuple[SharedArray, ...]
    shared_bytes: int
    addresses: Mapping[str, int]


def lay_out(
    module: Module,
    function: Function,
    launch: Launch,
    arguments: tuple[Argument, ...],
    *,
    track: bool,
) -> Layout:
    """Allocate and fill; ``track`` keeps count of which bytes hold a value."""
    variables = [v for v in module.variables if v.space in ("global", "const")]
    arrays = [(a, a.value) for a in arguments if isinstance(a.value, np.ndarray)]
    memory = GlobalMemory(
        [(symbol_name(v.name), v.size, TYPE_BYTES[v.type], ()) for v in variables]
        + [(a.name, value.nbytes, value.itemsize, value.shape) for a, value in arrays],
        track=track,
    )
    places = dict(zip((v.name for v in variables), memory.allocations, strict=False))
    shared, shared_bytes = _shared_layout(module, function, launch)
    addresses = {array.name: array.start for array in shared}
    addresses |= {name: GLOBAL_BASE + place.start for name, place in places.items()}
    for variable in variables:
        memory.fill(places[variable.name], _initial_bytes(variable, addresses), initialised=True)
    placed = [
        (argument, value, allocation)
        for (argument, value), allocation in zip(arrays, memory.allocations[len(variables) :], strict=True)
    ]
    for argument, value, allocation in placed:
        memory.fill(allocation, value, initialised=argument.direction != "out")
    return Layout(memory, tuple(placed), shared, shared_bytes, addresses)


def _in_scope(module: Module, function: Function) -> Iterator[Variable]:
    """The variables of the module, of the kernel, and of the functions that it may call."""
    yield from module.variables
    for each in module.functions:
        if each is function or not each.is_entry:
            yield from each.variables


def _shared_layout(module: Module, function: Function, launch: Launch) -> tuple[tuple[SharedArray, ...], int]:
    """Where shared variables lie: static ones in order, then the dynamic ones, which share one place."""
    variables = [v for v in _in_scope(module, function) if v.space == "shared"]
    arrays, end = [], 0
    for variable in (v for v in variables if v.count):
        end = -(-end // variable.align) * variable.align
        arrays.append(SharedArray(variable.name, end, variable.size))
        end += variable.size
    for variable in (v for v in variables if not v.count):
        start = -(-end // max(16, variable.align)) * max(16, variable.align)
        arrays.append(SharedArray(variable.name, start, launch.shared_bytes))
    if launch.shared_bytes:
        end = -(-end // 16) * 16 + launch.shared_bytes
    return tuple(arrays), end


def _initial_bytes(variable: Variable, addresses: Mapping[str, int]) -> NDArray[np.uint8]:
    """A variable's initialiser in memory; what it leaves out is zero (PTX ISA section 5.4.4)."""
    size = TYPE_BYTES[variable.type]
    content = np.zeros(max(variable.count, len(variable.initial)), f"u{size}")
    for place, initial in enumerate(variable.initial):
        if isinstance(initial, Immediate):
            content[place] = np.uint64(initial.value & (2 ** (8 * size) - 1)).astype(content.dtype)
        elif initial.name in addresses:
            content[place] = addresses[initial.name] + initial.offset
        else:
            raise UnsupportedPtx(f"initialiser {initial.name}", 0)
    return content.view(np.uint8)[: variable.size]


def grain_of(module: Module) -> int:
    """1 where an instruction accesses less than 4 bytes of memory at once, else 4."""
    for function in module.functions:
        for instruction in function.body:
            narrow = instruction.modifiers and TYPE_BYTES.get(instruction.modifiers[-1], 4) < 4  # noqa: PLR2004
            if (
                narrow
                and instruction.opcode in ("ld", "st", "atom", "red")
                and "param" not in instruction.modifiers
            ):
                return 1
    return 4


def local_bytes_of(module: Module, own: int) -> int:
    """Local memory to set aside per thread: the kernel's frame, and a stack where it calls functions."""
    calls = any(instruction.opcode == "call" for f in module.functions for instruction in f.body)
    frames = any(v.space == "local" for f in module.functions for v in f.variables)
    return max(16, LOCAL_BYTES if calls and frames else own)
