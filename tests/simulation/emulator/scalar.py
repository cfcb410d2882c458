"""PTX one thread at a time: the definition that the vectorised emulator is held against.

Written from the PTX ISA (9.0) for plainness: a register holds its bits as a Python int, each operation is
exact on integers or fractions, a thread runs until it waits for others or ends, blocks run one by one.
Nothing here looks for mistakes: programs must stay in bounds and set what they read.
"""

from __future__ import annotations

from itertools import product as every
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.simulation.emulator import scalar_warps as warps
from tests.simulation.emulator.scalar_thread import LOCAL, SHARED, Thread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.model import Argument, Dim3, Launch
    from grader.simulation.ptx import Function, Module

_GLOBAL = 1 << 40
_SPACING = 1 << 36


def run(
    module: Module, entry: str, launch: Launch, arguments: tuple[Argument, ...]
) -> dict[str, np.ndarray[Any, Any]]:
    """Run a launch, and return the contents of the arrays after it, by the names of the arguments."""
    function = module.function(entry)
    parameters, arrays = {}, {}
    for place, (formal, argument) in enumerate(zip(function.parameters, arguments, strict=True)):
        if isinstance(argument.value, np.ndarray):
            base = _GLOBAL + place * _SPACING
            arrays[base] = (argument, bytearray(argument.value.tobytes()))
            parameters[formal.name] = bytearray(base.to_bytes(8, "little"))
        else:
            parameters[formal.name] = bytearray(argument.value.tobytes())
    memory = {base: content for base, (_, content) in arrays.items()}
    for block in indices(launch.grid):
        _run_block(module, function, launch, block, memory, parameters)
    return {
        argument.name: np.frombuffer(bytes(content), argument.value.dtype).reshape(argument.value.shape)
        for argument, content in arrays.values()
    }


def indices(extents: Dim3) -> Iterator[Dim3]:
    """All indices within some extents, x first."""
    x, y, z = extents
    for c, b, a in every(range(z), range(y), range(x)):
        yield a, b, c


def _run_block(
    module: Module,
    function: Function,
    launch: Launch,
    block: Dim3,
    memory: dict[int, bytearray],
    parameters: dict[str, bytearray],
) -> None:
    addresses, end = {}, 0
    for variable in (*module.variables, *function.variables):
        if variable.space == "shared":
            end = -(-end // variable.align) * variable.align
            addresses[variable.name] = end
            end += variable.size
    memory = {**memory, SHARED: bytearray(end + launch.shared_bytes)}
    threads = [
        Thread(function, special(launch, block, thread), memory | {LOCAL: bytearray()}, parameters, addresses)
        for thread in indices(launch.block)
    ]
    for number, thread in enumerate(threads):
        thread.linear = number
    going = {thread: thread.until_it_waits() for thread in threads}
    ready = threads
    while going:
        for thread in ready:
            thread.waits_for = next(going[thread], None)
            if thread.waits_for is None:
                del going[thread]
        ready = warps.released(list(going)) or _all_at_a_barrier(list(going))


def _all_at_a_barrier(threads: list[Thread]) -> list[Thread]:
    assert not any(thread.waits_for and warps.waits_for_warp(thread.waits_for) for thread in threads)
    return threads


def special(launch: Launch, block: Dim3, thread: Dim3) -> dict[str, int]:
    """The special registers of a thread."""
    named = {"tid": thread, "ctaid": block, "ntid": launch.block, "nctaid": launch.grid}
    return {
        f"%{name}.{axis}": value
        for name, index in named.items()
        for axis, value in zip("xyz", index, strict=True)
    }
