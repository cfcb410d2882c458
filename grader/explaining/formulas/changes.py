"""Mistakes that a student may make in one place of a formula, as changes of its syntax tree."""

from __future__ import annotations

import ast
import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from grader.explaining.formulas.quantities import EXCHANGED, QUANTITY, of_assignment
from grader.explaining.formulas.steps import (
    FIRST_STEP,
    LAST_TERM,
    STEPS,
    of_addition,
    of_loop,
    of_range,
    of_slice,
    of_subscript,
    sides_of_range,
)
from grader.explaining.mistake import Mistake, Rank, register

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Changes = Iterator[tuple[str, ast.AST]]

SIGN = "sign-in-formula"
NUMBER = "number-in-formula"
PART = "part-of-formula"
CONDITION = "condition-in-formula"
FUNCTION = "function-in-formula"
OPERATOR = "operator-in-formula"
START = "start-of-formula"
FRACTION = "fraction-in-formula"


PLAINEST_FIRST = (
    *(SIGN, PART, CONDITION, LAST_TERM, STEPS, FIRST_STEP, NUMBER, EXCHANGED),
    *(FUNCTION, FRACTION, START, OPERATOR, QUANTITY),
)
"""The mistakes in the order in which their mutants are asked."""

register(*(Mistake(name, Rank.FORMULA) for name in PLAINEST_FIRST if name not in {LAST_TERM, START}))

FUNCTIONS = {
    "exp": ("exp2", "expm1"),
    "exp2": ("exp",),
    "log": ("log10", "log2", "log1p"),
    "log2": ("log", "log10"),
    "log10": ("log", "log2"),
    "sin": ("cos",),
    "cos": ("sin",),
    "max": ("min", "sum"),
    "min": ("max",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "floor": ("rint", "ceil"),
    "ceil": ("floor",),
    "sum": ("max", "mean"),
    "mean": ("sum",),
    "any": ("all",),
    "all": ("any",),
}
"""Functions, and those that are taken for them."""

LARGEST_SQUARED = 64
"""Numbers beyond which a square could be the length of a very long loop."""

STARTS = {"zeros": "ones", "ones": "zeros", "zeros_like": "ones_like", "ones_like": "zeros_like"}

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt),
    ast.Eq: (ast.NotEq, ast.GtE, ast.LtE),
    ast.NotEq: (ast.Eq,),
}


def changes_of(node: ast.AST) -> Changes:
    """Replacements for an expression or a statement, each with the mistake that it represents."""
    of_this_kind = CHANGES.get(type(node))
    if of_this_kind is not None:
        yield from of_this_kind(node)


def _of_sign(node: ast.UnaryOp) -> Changes:
    if isinstance(node.op, ast.USub):
        yield SIGN, node.operand


def _of_condition(node: ast.BoolOp) -> Changes:
    yield CONDITION, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    yield from ((CONDITION, value) for value in node.values)


def _of_sequence(node: ast.Tuple | ast.List) -> Changes:
    """Remove one of several elements, such as one of the neighbours, or one of the axes of an index."""
    is_index = any(isinstance(element, ast.Slice) for element in node.elts)
    mistake = QUANTITY if is_index else PART
    if isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for i in range(len(node.elts)):
            yield mistake, type(node)([*node.elts[:i], *node.elts[i + 1 :]], node.ctx)


def _of_comprehension(node: ast.comprehension) -> Changes:
    if node.ifs:
        yield CONDITION, ast.comprehension(node.target, node.iter, [], node.is_async)


def _of_arithmetic(node: ast.BinOp) -> Changes:
    left, right = node.left, node.right
    if isinstance(node.op, ast.Add | ast.Sub):
        is_sum = isinstance(node.op, ast.Add)
        yield SIGN, ast.BinOp(left, ast.Sub() if is_sum else ast.Add(), right)
        if not is_sum:
            yield EXCHANGED, ast.BinOp(right, node.op, left)
        yield from ((PART, operand) for operand in (left, right))
    elif isinstance(node.op, ast.Mult):
        yield from ((PART, operand) for operand in (left, right))
        yield OPERATOR, ast.BinOp(left, ast.Div(), right)
        yield OPERATOR, ast.BinOp(left, ast.Add(), right)
    elif isinstance(node.op, ast.Div):
        yield PART, left
        yield PART, ast.BinOp(ast.Constant(1), node.op, right)
        yield EXCHANGED, ast.BinOp(right, node.op, left)
        yield OPERATOR, ast.BinOp(left, ast.Mult(), right)
        yield FRACTION, ast.BinOp(left, ast.FloorDiv(), right)
    elif isinstance(node.op, ast.Mod | ast.Pow | ast.FloorDiv | ast.LShift | ast.RShift):
        yield PART, left
    elif isinstance(node.op, ast.BitAnd | ast.BitOr):
        is_and = isinstance(node.op, ast.BitAnd)
        yield CONDITION, ast.BinOp(left, ast.BitOr() if is_and else ast.BitAnd(), right)
        yield from ((CONDITION, operand) for operand in (left, right))


def _of_number(node: ast.Constant) -> Changes:
    """Other numbers: one more or less, twice, half, the root, the square, the negative one, none at all."""
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    others = [-value, value + 1, value - 1, value * 2, 0, 1]
    if abs(value) <= LARGEST_SQUARED:
        others.append(value * value)
    if isinstance(value, float) or value % 2 == 0:
        others.append(value / 2 if isinstance(value, float) else value // 2)
    if isinstance(value, float):
        others += [value + 0.5, value - 0.5, 10 * value, value / 10]
    if value > 0:
        root = math.sqrt(value)
        others += [root] if isinstance(value, float) else [int(root)] if root == int(root) else []
    if isinstance(value, float) and value != int(value):
        yield FRACTION, ast.Constant(int(value))
    for other in dict.fromkeys(others):
        if other != value:
            yield NUMBER, ast.Constant(other)


def _of_comparison(node: ast.Compare) -> Changes:
    for i, operation in enumerate(node.ops):
        for other in COMPARISONS.get(type(operation), ()):
            yield (
                CONDITION,
                ast.Compare(node.left, [*node.ops[:i], other(), *node.ops[i + 1 :]], node.comparators),
            )


def _of_call(node: ast.Call) -> Changes:
    """Another function, none, or one of an argument with the other sign; of a range also other bounds."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "range":
        yield from of_range(node)
        yield from ((PART, side) for side in sides_of_range(node))
        return
    if name in STARTS:
        yield START, _renamed(node, STARTS[name])
        return
    yield from ((FUNCTION, _renamed(node, other)) for other in FUNCTIONS.get(name, ()))
    if len(node.args) == 1:
        yield FUNCTION, node.args[0]
    for i, argument in enumerate(node.args):
        if isinstance(argument, ast.Name | ast.BinOp):
            negative = ast.UnaryOp(ast.USub(), argument)
            yield SIGN, ast.Call(node.func, [*node.args[:i], negative, *node.args[i + 1 :]], node.keywords)


def _renamed(node: ast.Call, name: str) -> ast.Call:
    function = deepcopy(node.func)
    if isinstance(function, ast.Attribute):
        function.attr = name
    elif isinstance(function, ast.Name):
        function.id = name
    return ast.Call(function, node.args, node.keywords)


def _of_branch(node: ast.If) -> Changes:
    """An `if` that lets all values by, or just those that it kept out."""
    yield CONDITION, ast.If(ast.Constant(value=True), node.body, [])
    yield CONDITION, ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


CHANGES: dict[type[ast.AST], Callable[[Any], Changes]] = {
    ast.BinOp: _of_arithmetic,
    ast.UnaryOp: _of_sign,
    ast.Constant: _of_number,
    ast.Compare: _of_comparison,
    ast.BoolOp: _of_condition,
    ast.Call: _of_call,
    ast.Tuple: _of_sequence,
    ast.List: _of_sequence,
    ast.comprehension: _of_comprehension,
    ast.Subscript: of_subscript,
    ast.Slice: of_slice,
    ast.For: of_loop,
    ast.If: _of_branch,
    ast.Assign: of_assignment,
    ast.AugAssign: of_addition,
}
"""Changes that each kind of node may undergo."""
