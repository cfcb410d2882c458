"""An oracle's formula: the functions behind `expected`, as a tree to be changed and compiled.

The oracle itself stays as it is: changed code runs in a copy of its module's names, with tables and lists of
its own.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections import Counter
from copy import deepcopy
from types import BuiltinFunctionType, FunctionType, GenericAlias, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.grading.oracle import with_expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import CodeType

    from grader.grading.oracle import Oracle

REDUCTIONS = frozenset({"sum", "mean", "max", "min"})
"""Functions of many elements."""

NEVER_ENDING = (ast.While, ast.Try)
"""Nodes that one change may make endless: a condition never met, an exception that stops it caught."""

SHARED = (ModuleType, FunctionType, BuiltinFunctionType, type, GenericAlias)
"""Types of values in which no function keeps anything for its next call; they are not copied."""

MOST_NODES = 1000
"""Most nodes of a formula's tree: the time for all mutants grows with the square, and is a second here."""

MOST_KEPT = 1 << 16
"""Bytes that a file keeps for its formula: each of hundreds of mutants has a copy."""


def name_of(oracle: Oracle) -> str:
    """Name of `expected` in its file."""
    return str(inspect.unwrap(oracle.expected).__name__)


def formula_of(text: str, name: str) -> ast.Module | None:
    """The functions behind one of this text; None where it is long, or may go on for ever with one change.

    Numbers that the file gives names to stand in the place of their names.
    """
    whole = ast.parse(text)
    module = _functions_behind(whole, name)
    nodes = [*ast.walk(module)]
    if len(nodes) > MOST_NODES or any(isinstance(node, NEVER_ENDING) for node in nodes):
        return None
    _Numbers(dict(_named_numbers(whole))).visit(module)
    return module


def names_in(module: ast.Module) -> frozenset[str]:
    """All names that stand in it."""
    return frozenset(node.id for node in ast.walk(module) if isinstance(node, ast.Name))


def with_code(oracle: Oracle, code: CodeType, names: frozenset[str], **given: Any) -> Oracle:  # noqa: ANN401
    """The oracle with `expected` and what that calls as this code defines them, and with further names.

    Raises:
        TypeError: what the file keeps under one of ``names`` cannot be copied, as a lock, or is too large.

    """
    expected = inspect.unwrap(oracle.expected)
    of_file = {name: expected.__globals__[name] for name in names if name in expected.__globals__}
    kept = {name: value for name, value in of_file.items() if not isinstance(value, SHARED)}
    if not _is_small(kept):
        raise TypeError(name_of(oracle))
    scope = expected.__globals__ | deepcopy(kept) | given
    exec(code, scope)  # noqa: S102 - the course's own code, with one change
    return with_expected(oracle, scope[expected.__name__])


def _is_small(kept: Mapping[str, object]) -> bool:
    """True if these values, and those that they hold, are small enough to copy for each mutant."""
    waiting, size = [*kept.values()], 0
    while waiting and size <= MOST_KEPT:
        value = waiting.pop()
        size += value.nbytes if isinstance(value, np.ndarray) else sys.getsizeof(value)
        if size <= MOST_KEPT:
            waiting += _parts_of(value)
    return size <= MOST_KEPT


def _parts_of(value: object) -> Iterable[object]:
    if isinstance(value, SHARED):
        return ()
    if isinstance(value, dict):
        return (*value, *value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return value
    return getattr(value, "__dict__", {}).values()


def spelled_out(module: ast.Module) -> tuple[ast.Module, list[ast.expr]]:
    """The functions with the values of their variables in the place of the names, and these values.

    Only variables are spelled out that are set once, are used several times and are computed from such.
    """
    module, copies = deepcopy(module), list[ast.expr]()
    for function in module.body:
        stored = Counter(node.id for node in _names(function, ast.Store))
        used = Counter(node.id for node in _names(function, ast.Load))
        used -= Counter(node.id for bound in bounds_in(function) for node in _names(bound, ast.Load))
        values = {
            node.targets[0].id: node.value
            for node in getattr(function, "body", ())
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_computed(node)
        }
        values = {
            name: value
            for name, value in values.items()
            if used[name] > 1 and all(stored[n.id] <= 1 for n in (ast.Name(name), *_names(value, ast.Load)))
        }
        spelling = _SpelledOut(values)
        spelling.visit(function)
        copies += spelling.copies
    return ast.fix_missing_locations(module), copies


def bounds_in(function: ast.AST) -> list[ast.expr]:
    """Largest allowed errors of answers: the second elements where a dictionary of answers is returned."""
    answers = [
        value
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict)
        for value in node.value.values
    ]
    return [value.elts[1] for value in answers if isinstance(value, ast.Tuple) and len(value.elts) == 2]  # noqa: PLR2004


def _names(node: ast.AST, context: type[ast.expr_context]) -> list[ast.Name]:
    return [n for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)]


def _is_computed(statement: ast.Assign) -> bool:
    """True if one variable gets a computed value: a name for an input needs no copies of its value."""
    computed = any(isinstance(node, ast.BinOp) for node in ast.walk(statement.value))
    sums = any(
        isinstance(node, ast.Attribute) and node.attr in REDUCTIONS for node in ast.walk(statement.value)
    )
    return len(statement.targets) == 1 and (computed or sums)


class _SpelledOut(ast.NodeTransformer):
    """Copies of values in the place of names."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = {name: deepcopy(value) for name, value in values.items()}
        self.copies: list[ast.expr] = []

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        if value is None:
            return node
        copy = deepcopy(value)
        self.copies.append(copy)
        self.generic_visit(copy)
        return copy

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Leave a value as it is that is computed only for a bound."""
        bounds = {id(bound) for bound in bounds_in(node)}
        for parent in ast.walk(node):
            if isinstance(parent, ast.Tuple) and id(parent.elts[-1]) in bounds:
                parent.elts[0] = self.visit(parent.elts[0])
        return node if bounds else self.generic_visit(node)


def _functions_behind(module: ast.Module, name: str) -> ast.Module:
    """The function and those of its file that it calls, without annotations, which are not needed."""
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    needed, waiting = dict[str, ast.FunctionDef](), [name]
    while waiting:
        function = functions.get(waiting.pop())
        if function is None or function.name in needed:
            continue
        needed[function.name] = function
        function.returns = None
        for argument in ast.walk(function.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        own = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        waiting += [node.id for node in _names(function, ast.Load) if node.id not in own]
    return ast.Module([*needed.values()], [])


def _named_numbers(module: ast.Module) -> Iterator[tuple[str, ast.Constant]]:
    for node in module.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        if type(node.value.value) in (int, float):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))


class _Numbers(ast.NodeTransformer):
    """Numbers in the place of names."""

    def __init__(self, numbers: Mapping[str, ast.Constant]) -> None:
        self.numbers = numbers

    def visit_Name(self, node: ast.Name) -> ast.expr:
        number = self.numbers.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if number is None else ast.copy_location(ast.Constant(number.value), node)
