"""Mistakes that a student may make about the steps of a formula: ends of loops, slices and indices."""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import TYPE_CHECKING

from grader.explaining.formulas.quantities import QUANTITY

if TYPE_CHECKING:
    from collections.abc import Iterator

    Changes = Iterator[tuple[str, ast.AST]]

STEPS = "steps-of-formula"
FIRST_STEP = "first-step-only"
LAST_TERM = "not-accumulated"


def of_range(node: ast.Call) -> Changes:
    """A loop with a step too few or too many at either end, or at both, or with a single one."""
    for i, bound in enumerate(node.args[:2]):
        for other in _one_more_or_less(bound):
            yield STEPS, ast.Call(node.func, [*node.args[:i], other, *node.args[i + 1 :]], [])
    if len(node.args) == 2:  # noqa: PLR2004 - its beginning and its end
        fewer, more = zip(*map(_one_more_or_less, node.args), strict=True)
        yield STEPS, ast.Call(node.func, [more[0], fewer[1]], [])
        yield STEPS, ast.Call(node.func, [fewer[0], more[1]], [])
    if len(node.args) == 1:
        yield STEPS, ast.Call(node.func, [ast.Constant(1), *node.args], [])
        yield FIRST_STEP, ast.Call(node.func, [ast.Constant(1)], [])


def sides_of_range(node: ast.Call) -> Iterator[ast.Call]:
    """Ranges of one side with the middle, from a loop over the neighbours on both sides, as from `-r`."""
    if len(node.args) == 2 and isinstance(node.args[0], ast.UnaryOp):  # noqa: PLR2004 - its beginning and its end
        yield ast.Call(node.func, [ast.Constant(0), node.args[1]], [])
        yield ast.Call(node.func, [node.args[0], ast.Constant(1)], [])


def of_loop(node: ast.For) -> Changes:
    """An index that counts from the beginning of the loop, where it should from that of the array."""
    loop, variable = node.iter, node.target
    if not isinstance(loop, ast.Call) or len(loop.args) != 2 or not isinstance(variable, ast.Name):  # noqa: PLR2004
        return
    for position in range(len(list(_indices(node, variable.id)))):
        changed = deepcopy(node)
        subscript = list(_indices(changed, variable.id))[position]
        subscript.slice = ast.BinOp(subscript.slice, ast.Sub(), deepcopy(loop.args[0]))
        yield QUANTITY, changed


def _indices(loop: ast.For, variable: str) -> Iterator[ast.Subscript]:
    for node in ast.walk(loop):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == variable:
            yield node


def of_subscript(node: ast.Subscript) -> Changes:
    """A size that is one more or less; the place of an index in the place of the index."""
    if is_extent(node):
        yield from ((STEPS, changed) for changed in _one_more_or_less(node))
    elif isinstance(node.slice, ast.Subscript):
        yield QUANTITY, ast.Subscript(node.value, node.slice.slice, node.ctx)


def of_slice(node: ast.Slice) -> Changes:
    """A slice that begins or ends an element sooner or later, where its bounds are no plain numbers."""
    for bound in ("lower", "upper"):
        value = getattr(node, bound)
        if value is None or isinstance(value, ast.Constant | ast.UnaryOp):
            continue
        for other in _one_more_or_less(value):
            changed = ast.Slice(node.lower, node.upper, node.step)
            setattr(changed, bound, other)
            yield STEPS, changed


def of_addition(node: ast.AugAssign) -> Changes:
    """`=` in place of `+=`."""
    if isinstance(node.op, ast.Add):
        yield LAST_TERM, ast.Assign([node.target], node.value)


def _one_more_or_less(value: ast.expr) -> tuple[ast.expr, ast.expr]:
    one = ast.Constant(1)
    return ast.BinOp(value, ast.Sub(), one), ast.BinOp(value, ast.Add(), one)


def is_extent(node: ast.Subscript) -> bool:
    """True if this is a size of the case: `shape["T"]`."""
    by_name = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return by_name and isinstance(node.value, ast.Name) and "shape" in node.value.id
