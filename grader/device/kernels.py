"""A kernel of a program's file as the device knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.device.device import LoadedKernel
from grader.emulator.memory.layout import shared_layout
from grader.model import MOST_THREADS, Launch

if TYPE_CHECKING:
    from grader.ptx import Function, Module

_REGISTERS = 32
"""What a kernel is said to use of them: nothing here allocates registers."""


def loaded(number: int, module: Module, function: Function) -> LoadedKernel:
    """A kernel with the places of its parameters, as C lays out a struct of them."""
    places, end = [], 0
    for formal in function.parameters:
        start = -(-end // formal.align) * formal.align
        places.append((start, formal.size))
        end = start + formal.size
    _, static_shared = shared_layout(module, function, Launch((1, 1, 1), (1, 1, 1)))
    constants = sum(variable.size for variable in module.variables if variable.space == "const")
    most_threads = min(function.most_threads or MOST_THREADS, MOST_THREADS)
    return LoadedKernel(
        function.name, number, tuple(places), _REGISTERS, static_shared, 0, constants, most_threads
    )
