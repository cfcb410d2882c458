"""The kernels of a PTX module: names and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from grader.ptx import Module, Variable


@dataclass(frozen=True, slots=True)
class EntryParameter:
    """A kernel parameter as PTX declares it (PTX ISA sections 4.4 and 5.1.6.1): ``u64``, ``f32``, … ."""

    type: str
    bytes: int
    is_struct: bool = False
    """Passed by value as an array of bytes: a struct, or anything that is a ``__grid_constant__``."""
    align: int = 0
    """The alignment that PTX declares, in bytes; 0 where it declares none."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel of a PTX module."""

    name: str
    parameters: tuple[EntryParameter, ...]


def read_entries(module: Module) -> tuple[Entry, ...]:
    """Every ``.entry`` of the module that has a body, in its order."""
    return tuple(
        Entry(function.name, tuple(map(_parameter, function.parameters)))
        for function in module.functions
        if function.is_entry and function.defined
    )


def _parameter(variable: Variable) -> EntryParameter:
    is_struct = variable.size != TYPE_BYTES[variable.type]
    return EntryParameter(variable.type, variable.size, is_struct, variable.align if is_struct else 0)
