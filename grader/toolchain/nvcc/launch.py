"""The launch configuration of a case, and the variables that it fills, checked as a device would check them.

The limits belong to compute capability 8.0 (CUDA C++ Programming Guide, "Technical Specifications per
Compute Capability"): 1024 threads per block, at most 64 along z, grids of at most 2³¹-1 × 65535 × 65535,
48 KiB of shared memory per block without an opt-in.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from grader.base import arithmetic
from grader.base.errors import UsageError
from grader.base.precision import numpy_type
from grader.model import (
    MOST_IN_BLOCK,
    MOST_IN_GRID,
    MOST_THREADS,
    Clause,
    Finding,
    FindingCode,
    FindingKind,
    Launch,
)
from grader.model.messages import worded
from grader.simulation.ptx.parser import ModuleVariable, module_variables, symbol_called
from grader.toolchain.nvcc.signature import c_type
from grader.toolchain.nvcc.source import part, problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.base.arithmetic import Expression
    from grader.model import Build, Detail, Dim3, KernelInterface, Named, Parameter

MOST_SHARED_BYTES = 48 * 1024
_AXES = "xyz"

Problem: TypeAlias = "tuple[FindingCode, Named[Detail]]"
"""Reason why a device would refuse a launch: the code with its details."""


def plan_launch(interface: KernelInterface, build: Build, shape: Mapping[str, int]) -> Launch | Finding:
    """The launch for ``shape``, or the finding with the reason why a device would refuse it.

    The finding names the student's constants, which are what the block and the grid are computed from.
    """
    values = dict(build.constants) | dict(shape)
    try:
        block = _dimensions(interface.block, values)
        grid = _dimensions(interface.grid, values)
        dynamic = arithmetic.evaluate(interface.shared, values) if interface.shared is not None else 0
    except UsageError as problem:
        return _refusal(interface, build, (FindingCode.LAUNCH_NOT_COMPUTED, (("reason", str(problem)),)))
    lack = variable_too_small(interface, build.ptx, values)
    if lack:
        return _refusal(interface, build, (FindingCode.VARIABLE_TOO_SMALL, (("lack", (lack,)),)))
    static = build.resources.shared_bytes if build.resources else 0
    refused = _problem(block, grid) or _shared_problem(static, dynamic)
    return _refusal(interface, build, refused) if refused else Launch(grid, block, dynamic)


def _dimensions(expressions: tuple[Expression, ...], values: Mapping[str, int]) -> Dim3:
    x, y, z, *_ = (*(arithmetic.evaluate(expression, values) for expression in expressions), 1, 1, 1)
    return x, y, z


def _problem(block: Dim3, grid: Dim3) -> Problem | None:
    """Problem of the dimensions; None where a device would take them."""
    for what, dimensions, most in (("block", block, MOST_IN_BLOCK), ("grid", grid, MOST_IN_GRID)):
        shown = (("what", (Clause(what),)), ("dimensions", " × ".join(map(str, dimensions))))
        for axis, size, limit in zip(_AXES, dimensions, most, strict=True):
            if size < 1:
                return FindingCode.LAUNCH_TOO_SMALL, (*shown, ("axis", axis))
            if size > limit:
                excess = Clause("axis-too-large", (*shown, ("axis", axis), ("most", limit)))
                return FindingCode.LAUNCH_TOO_LARGE, (("excess", (excess,)),)
    if prod(block) > MOST_THREADS:
        numbers = (
            ("dimensions", " × ".join(map(str, block))),
            ("threads", prod(block)),
            ("most", MOST_THREADS),
        )
        return FindingCode.LAUNCH_TOO_LARGE, (("excess", (Clause("too-many-threads", numbers),)),)
    return None


def _shared_problem(static: int, dynamic: int) -> Problem | None:
    excess = Clause("negative-shared-memory", (("bytes", dynamic),))
    if dynamic >= 0:
        if static + dynamic <= MOST_SHARED_BYTES:
            return None
        parts = (("bytes", static + dynamic), ("static", static), ("dynamic", dynamic))
        excess = Clause("too-much-shared-memory", (*parts, ("most", MOST_SHARED_BYTES)))
    return FindingCode.LAUNCH_SHARED_MEMORY, (("excess", (excess,)),)


def _refusal(interface: KernelInterface, build: Build, problem: Problem) -> Finding:
    code, details = problem
    used = frozenset().union(*map(arithmetic.names, _expressions(interface)))
    constants = tuple((name, value) for name, value in build.constants if name in used)
    return worded(Finding(FindingKind.FAULT, code=code, details=details, constants=constants))


def _expressions(interface: KernelInterface) -> tuple[Expression, ...]:
    shared = () if interface.shared is None else (interface.shared,)
    return (*interface.block, *interface.grid, *shared)


def missing_variable(interface: KernelInterface, ptx: str) -> Finding | None:
    """Finding for a variable that the file lacks; None where all are there."""
    variables = module_variables(ptx) if interface.symbols else {}
    for symbol in interface.symbols:
        variable = _variable_of(symbol, variables)
        if variable is None:
            return problem(FindingCode.NO_VARIABLE, name=symbol.name, expected=_expected(symbol))
        if variable.space == "const" and _is_output(symbol):
            return problem(FindingCode.VARIABLE_CONSTANT, name=symbol.name, expected=_expected(symbol))
    return None


def variable_too_small(interface: KernelInterface, ptx: str, values: Mapping[str, int]) -> Clause | None:
    """Variable that cannot hold what a launch puts into it; None where all can.

    Raises UsageError where the sizes cannot be computed.
    """
    if not interface.symbols:
        return None
    variables = module_variables(ptx)
    for symbol in interface.symbols:
        variable = _variable_of(symbol, variables)
        elements = prod(arithmetic.evaluate(extent, values) for extent in symbol.extents)
        width = numpy_type(symbol.dtype).itemsize
        if variable is None or variable.size < elements * width:
            room = (("elements", variable.size // width if variable else 0), ("type", c_type(symbol.dtype)))
            return Clause("too-few-elements", (("name", symbol.name), *room, ("needed", elements)))
    return None


def _variable_of(symbol: Parameter, variables: Mapping[str, ModuleVariable]) -> ModuleVariable | None:
    return variables.get(symbol_called(symbol.name, variables) or "")


def _is_output(symbol: Parameter) -> bool:
    return symbol.direction in ("out", "inout")


def _expected(symbol: Parameter) -> tuple[Clause, ...]:
    """Declaration of the variable as a student would write it."""
    extents = "".join(f"[{extent}]" for extent in symbol.extents)
    declaration = f"{c_type(symbol.dtype)} {symbol.name}{extents}"
    if _is_output(symbol):
        return part("declared-as", qualifier="__device__", declaration=declaration)
    return part("constant-or-device", declaration=declaration)
