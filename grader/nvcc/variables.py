"""Whether a file has the variables that an assignment fills, and whether they are large enough."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from grader.arithmetic import evaluate
from grader.model import Clause
from grader.nvcc.signature import c_type
from grader.precision import numpy_type
from grader.ptx.parser import ModuleVariable, module_variables, symbol_called

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.model import KernelInterface, Parameter


def missing(interface: KernelInterface, ptx: str) -> str:
    """What variable the file lacks, in one sentence; empty where all are there."""
    variables = module_variables(ptx) if interface.symbols else {}
    for symbol in interface.symbols:
        found = _found(symbol, variables)
        if found is None:
            return (
                f"there is no variable `{symbol.name}` in device memory; expected {_expected(symbol)} "
                "outside of all functions, which the grader fills before each launch"
            )
        if found.space == "const" and _is_output(symbol):
            expected = _expected(symbol)
            return f"`{symbol.name}` is `__constant__`, which a kernel cannot write to; expected {expected}"
    return ""


def too_small(interface: KernelInterface, ptx: str, values: Mapping[str, int]) -> Clause | None:
    """Which variable cannot hold what a launch puts into it; None where all can.

    Raises UsageError where the sizes cannot be computed.
    """
    if not interface.symbols:
        return None
    variables = module_variables(ptx)
    for symbol in interface.symbols:
        found = _found(symbol, variables)
        elements = prod(evaluate(extent, values) for extent in symbol.extents)
        width = numpy_type(symbol.dtype).itemsize
        if found is None or found.size < elements * width:
            room = (("elements", found.size // width if found else 0), ("type", c_type(symbol.dtype)))
            return Clause("too-few-elements", (("name", symbol.name), *room, ("needed", elements)))
    return None


def _found(symbol: Parameter, variables: Mapping[str, ModuleVariable]) -> ModuleVariable | None:
    return variables.get(symbol_called(symbol.name, variables) or "")


def _is_output(symbol: Parameter) -> bool:
    return symbol.direction in ("out", "inout")


def _expected(symbol: Parameter) -> str:
    """How a student would declare the variable."""
    kinds = "`__device__" if _is_output(symbol) else "`__constant__` or `__device__"
    extents = "".join(f"[{extent}]" for extent in symbol.extents)
    return f"{kinds} {c_type(symbol.dtype)} {symbol.name}{extents}`"
