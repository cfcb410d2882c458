"""Mutants of an oracle: the staff's formula with one thing wrong, as a student may have it.

A kernel whose formula has a wrong sign computes what the oracle would with that sign. Each mutant changes one
place of `expected`, or of a function that it calls, and is named after what was changed. The oracle itself
stays as it is: a mutant is compiled into a copy of its module's names, with tables and lists of its own.
"""

from __future__ import annotations

import ast
import inspect
from copy import deepcopy
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.kinds.kernel.formula_changes import MISTAKES, changes_of, is_extent, other_quantities
from grader.oracle import with_expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType

    from grader.oracle import Oracle

BOUND = "bound"
"""What a local variable's name says that only holds how far off an answer may be."""

NEVER_ENDING = (ast.While, ast.Try)
"""What may go on for ever with one change: a condition never met, an exception that stops it caught."""

CHANGEABLE = (dict, list, set, np.ndarray)
"""What a function may keep something in for its next call."""


def mutants(oracle: Oracle) -> Iterator[tuple[str, Oracle]]:
    """The mistakes, each with the oracle that makes it, the plainest first.

    An oracle that may never end with one change has none (`NEVER_ENDING`), and one whose tables hold what
    cannot be copied.
    """
    expected = inspect.unwrap(oracle.expected)
    if not isinstance(expected, FunctionType):  # its names would be nowhere
        return
    text = (oracle.folder / "oracle.py").read_text(encoding="utf-8")
    code_of_mutants, names = _code_of_mutants(text, expected.__name__)
    kept = {name: expected.__globals__.get(name) for name in names}
    kept = {name: value for name, value in kept.items() if isinstance(value, CHANGEABLE)}
    try:
        yield from ((mistake, _with_code(oracle, expected, code, kept)) for mistake, code in code_of_mutants)
    except TypeError:  # a module, or a lock
        return


@lru_cache(maxsize=4)
def _code_of_mutants(text: str, name: str) -> tuple[tuple[tuple[str, CodeType], ...], frozenset[str]]:
    """The code of a function of this text with each mistake, and the names that stand in it.

    To compile takes longer than to run all of it.
    """
    module = _functions_behind(ast.parse(text), name)
    if any(isinstance(node, NEVER_ENDING) for node in ast.walk(module)):
        return (), frozenset()
    names = frozenset(node.id for node in ast.walk(module) if isinstance(node, ast.Name))
    return tuple(sorted(_compiled(module), key=lambda mutant: MISTAKES.index(mutant[0]))), names


def _with_code(oracle: Oracle, expected: Callable[..., Any], code: CodeType, kept: dict[str, Any]) -> Oracle:
    """The oracle with `expected` and what that calls as this code defines them; ``kept`` it has as copies."""
    scope = expected.__globals__ | deepcopy(kept)
    exec(code, scope)  # noqa: S102 - the course's own code, with one change
    return with_expected(oracle, scope[expected.__name__])


def _functions_behind(module: ast.Module, name: str) -> ast.Module:
    """The function and those of its file that it calls, without types, which nobody asks for."""
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
        waiting += [node.id for node in ast.walk(function) if isinstance(node, ast.Name)]
    return ast.Module([*needed.values()], [])


def _compiled(module: ast.Module) -> Iterator[tuple[str, CodeType]]:
    """The code of the functions with each change in turn; the tree is as it was after each of them."""
    for function in module.body:
        quantities = _quantities(function)
        for parent, field, index, node in list(_nodes(function)):
            for mistake, other in (*changes_of(node), *other_quantities(node, quantities)):
                ast.copy_location(other, node)
                ast.fix_missing_locations(other)
                _put(parent, field, index, other)
                try:
                    code = compile(module, "<mutant>", "exec")
                except (SyntaxError, ValueError):  # a change that Python does not understand is no mutant
                    continue
                finally:
                    _put(parent, field, index, node)
                yield mistake, code


def _nodes(function: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Each node below a function, with the place at which it stands."""
    for parent in list(ast.walk(function)):
        for field, value in ast.iter_fields(parent):
            if isinstance(value, list):
                yield from (
                    (parent, field, i, node) for i, node in enumerate(value) if isinstance(node, ast.AST)
                )
            elif isinstance(value, ast.AST):
                yield parent, field, None, value


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _quantities(function: ast.AST) -> list[ast.expr]:
    """What a function gives names to, and the slices that it takes of them: of each one node."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store) and BOUND not in node.id}
    slices = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and not is_extent(node)
    ]
    variables = [ast.Name(name, ast.Load()) for name in sorted(stored)]
    return [*variables, *{ast.dump(node): node for node in slices}.values()]
