"""What a student may get wrong in one place of a formula, as changes of its syntax tree."""

from __future__ import annotations

import ast
import math
from copy import deepcopy
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Changes = Iterator[tuple[str, ast.AST]]

SIGN = "sign-in-formula"
NUMBER = "number-in-formula"
PART = "part-of-formula"
CONDITION = "condition-in-formula"
FUNCTION = "function-in-formula"
EXCHANGED = "exchanged-in-formula"
OPERATOR = "operator-in-formula"
STEPS = "steps-of-formula"
START = "start-of-formula"
FRACTION = "fraction-in-formula"

QUANTITY = "quantity-in-formula"
FIRST_STEP = "first-step-only"

MISTAKES = (
    *(SIGN, PART, CONDITION, STEPS, FIRST_STEP, NUMBER, EXCHANGED),
    *(FUNCTION, FRACTION, START, OPERATOR, QUANTITY),
)
"""The mistakes, the plainest first."""

FUNCTIONS = {
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
    """What may stand in place of an expression or a statement, each with the mistake that this is."""
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
    """Without one of several elements, such as one of the neighbours."""
    if isinstance(node.ctx, ast.Load) and len(node.elts) > 1:
        for i in range(len(node.elts)):
            yield PART, type(node)([*node.elts[:i], *node.elts[i + 1 :]], node.ctx)


def _of_comprehension(node: ast.comprehension) -> Changes:
    if node.ifs:
        yield CONDITION, ast.comprehension(node.target, node.iter, [], node.is_async)


def _of_size(node: ast.Subscript) -> Changes:
    if is_extent(node):
        yield from ((STEPS, changed) for changed in _one_more_or_less(node))


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
        yield from _of_range(node)
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


def _of_range(node: ast.Call) -> Changes:
    """A loop with a step too few or too many at either end, or with a single one."""
    for i, bound in enumerate(node.args[:2]):
        for other in _one_more_or_less(bound):
            yield STEPS, ast.Call(node.func, [*node.args[:i], other, *node.args[i + 1 :]], [])
    if len(node.args) == 1:
        yield STEPS, ast.Call(node.func, [ast.Constant(1), *node.args], [])
        yield FIRST_STEP, ast.Call(node.func, [ast.Constant(1)], [])


def _of_slice(node: ast.Slice) -> Changes:
    """A slice that begins or ends an element sooner or later, where its bounds are no plain numbers."""
    for bound in ("lower", "upper"):
        value = getattr(node, bound)
        if value is None or isinstance(value, ast.Constant | ast.UnaryOp):
            continue
        for other in _one_more_or_less(value):
            changed = ast.Slice(node.lower, node.upper, node.step)
            setattr(changed, bound, other)
            yield STEPS, changed


def _one_more_or_less(value: ast.expr) -> Iterator[ast.expr]:
    yield ast.BinOp(value, ast.Sub(), ast.Constant(1))
    yield ast.BinOp(value, ast.Add(), ast.Constant(1))


def is_extent(node: ast.Subscript) -> bool:
    """Whether this is a size of the case: `shape["T"]`."""
    by_name = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    return by_name and isinstance(node.value, ast.Name) and "shape" in node.value.id


def _of_branch(node: ast.If) -> Changes:
    """An `if` that lets everybody by, or just the others."""
    yield CONDITION, ast.If(ast.Constant(value=True), node.body, [])
    yield CONDITION, ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)


def _of_assignment(node: ast.Assign) -> Changes:
    """Two names, or two numbers, that change places throughout a statement."""
    loads = (n for n in ast.walk(node.value) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    for first, second in combinations(sorted({name.id for name in loads}), 2):
        value = _Renaming({first: second, second: first}).visit(deepcopy(node.value))
        yield EXCHANGED, ast.Assign(node.targets, value, node.type_comment)
    yield from ((EXCHANGED, changed) for changed in _with_numbers_exchanged(node))


def _with_numbers_exchanged(node: ast.Assign) -> Iterator[ast.Assign]:
    """The statement with two of its numbers in each other's place."""
    numbers = [
        i for i, n in enumerate(ast.walk(node)) if isinstance(n, ast.Constant) and type(n.value) is int
    ]
    for first, second in combinations(numbers, 2):
        changed = deepcopy(node)
        nodes = list(ast.walk(changed))
        a, b = nodes[first], nodes[second]
        if isinstance(a, ast.Constant) and isinstance(b, ast.Constant) and a.value != b.value:
            a.value, b.value = b.value, a.value
            yield changed


class _Renaming(ast.NodeTransformer):
    """Other names for names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)


def other_quantities(node: ast.AST, quantities: Sequence[ast.expr]) -> Changes:
    """Any other quantity of the function of the same sort (a name, a slice) in the place of one."""
    if not isinstance(node, ast.Name | ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return
    same = [other for other in quantities if type(other) is type(node)]
    if any(ast.dump(other) == ast.dump(node) for other in same):
        yield from ((QUANTITY, deepcopy(other)) for other in same if ast.dump(other) != ast.dump(node))


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
    ast.Subscript: _of_size,
    ast.Slice: _of_slice,
    ast.If: _of_branch,
    ast.Assign: _of_assignment,
}
"""What each kind of node may be changed to."""
