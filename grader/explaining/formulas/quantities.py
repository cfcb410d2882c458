"""Mistakes that a student may make about the quantities of a formula: one replaced, two exchanged."""

from __future__ import annotations

import ast
from copy import deepcopy
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Changes = Iterator[tuple[str, ast.AST]]

EXCHANGED = "exchanged-in-formula"
QUANTITY = "quantity-in-formula"


def of_assignment(node: ast.Assign) -> Changes:
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
    """Any other quantity of the same sort (a name, a slice) in the place of one, or of a square's factors."""
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Name):
        if ast.dump(node.left) == ast.dump(node.right):
            for other in _other_quantities_of_kind(node.left, quantities):
                yield QUANTITY, ast.BinOp(other, node.op, deepcopy(other))
    elif isinstance(node, ast.Name | ast.Subscript) and isinstance(node.ctx, ast.Load):
        yield from ((QUANTITY, other) for other in _other_quantities_of_kind(node, quantities))


def _other_quantities_of_kind(node: ast.expr, quantities: Sequence[ast.expr]) -> list[ast.expr]:
    same = [other for other in quantities if type(other) is type(node)]
    others = [deepcopy(other) for other in same if ast.dump(other) != ast.dump(node)]
    return others if len(others) < len(same) else []
