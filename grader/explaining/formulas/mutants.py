"""Mutants of an oracle: the staff's formula with one thing wrong, as a student may have it.

A kernel whose formula has a wrong sign computes what the oracle would with that sign. Each mutant changes one
place of `expected`, or of a function that it calls, or all places that say the same, and is named after what
was changed. A kernel may compute twice what the oracle keeps in a variable, and be wrong in one of the two:
so variables are also spelled out, and one use of them is changed.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

from grader.explaining.formulas.changes import PLAINEST_FIRST, changes_of
from grader.explaining.formulas.quantities import other_quantities
from grader.explaining.formulas.source import (
    bounds_in,
    formula_of,
    name_of,
    names_in,
    spelled_out,
    with_code,
)
from grader.explaining.formulas.steps import is_extent
from grader.grading.oracle import text_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from types import CodeType

    from grader.grading.oracle import Oracle

    Position = tuple[ast.AST, str, int | None, ast.AST]
    Mutants = Iterator[tuple[str, CodeType]]

BOUND = "bound"
"""Part of the name of a local variable that only holds the largest allowed error of an answer."""


def mutants(oracle: Oracle, only: Container[str] | None = None) -> Iterator[tuple[str, Oracle]]:
    """The mistakes, or ``only`` some, each with the oracle that makes it, the plainest first.

    An oracle that is long, or may never end with one change, has none (`formula_of`), and one that keeps
    what cannot be copied, or is too large for it (`with_code`).
    """
    text = text_of(oracle)
    if text is None:  # its names would be nowhere
        return
    code_of_mutants, names = _code_of_mutants(text, name_of(oracle))
    try:
        for mistake, code in code_of_mutants:
            if only is None or mistake in only:
                yield mistake, with_code(oracle, code, names)
    except TypeError:  # what the file keeps has no copies
        return


@lru_cache(maxsize=4)
def _code_of_mutants(text: str, name: str) -> tuple[tuple[tuple[str, CodeType], ...], frozenset[str]]:
    """The code of a function of this text with each mistake, and the names that stand in it.

    To compile takes longer than to run all of it.
    """
    module = formula_of(text, name)
    if module is None:
        return (), frozenset()
    names = names_in(module)
    codes = [*_with_one_change(module), *_with_changes_alike(module)]
    other, copies = spelled_out(module)
    codes += _with_one_change(other, copies) if copies else ()
    return tuple(sorted(codes, key=lambda mutant: PLAINEST_FIRST.index(mutant[0]))), names


def _with_one_change(module: ast.Module, within: Iterable[ast.AST] | None = None) -> Mutants:
    """The code with each change in turn, of all nodes or of those ``within`` some."""
    chosen = None if within is None else {id(node) for whole in within for node in ast.walk(whole)}
    for function in module.body:
        quantities = _quantities(function)
        for position in list(_nodes(function)):
            node = position[-1]
            if chosen is None or id(node) in chosen:
                for mistake, other in (*changes_of(node), *other_quantities(node, quantities)):
                    yield from _compiled(module, mistake, [(position, other)])


def _with_changes_alike(module: ast.Module) -> Mutants:
    """The code with one change of all places of a function that say the same, or call the same function."""
    for function in module.body:
        alike: dict[str, list[Position]] = defaultdict(list)
        for position in _nodes(function):
            if isinstance(position[-1], ast.BinOp | ast.Call | ast.Constant):
                alike[ast.dump(position[-1])].append(position)
            if isinstance(position[-1], ast.Call):
                alike[f"function {ast.dump(position[-1].func)}"].append(position)
        for positions in (positions for positions in alike.values() if len(positions) > 1):
            changes = [changes_of(position[-1]) for position in positions]
            for same in zip(*changes, strict=False):  # calls of one function may have other arguments
                if len({mistake for mistake, _ in same}) == 1:
                    others = [other for _, other in same]
                    yield from _compiled(module, same[0][0], [*zip(positions, others, strict=True)])


def _compiled(module: ast.Module, mistake: str, changed: list[tuple[Position, ast.AST]]) -> Mutants:
    """The code with these changes; the tree is afterwards as it was before."""
    for (parent, field, index, node), other in changed:
        ast.copy_location(other, node)
        ast.fix_missing_locations(other)
        _put(parent, field, index, other)
    try:
        yield mistake, compile(module, "<mutant>", "exec")
    except (SyntaxError, ValueError):  # a change that Python does not understand is no mutant
        return
    finally:
        for (parent, field, index, node), _ in changed:
            _put(parent, field, index, node)


def _nodes(function: ast.AST) -> Iterator[Position]:
    """Each node below a function that has a say in its answers, with the position at which it stands."""
    bounds = {id(node) for bound in bounds_in(function) for node in ast.walk(bound)}
    for parent in [node for node in ast.walk(function) if id(node) not in bounds]:
        for field, value in ast.iter_fields(parent):
            for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
                if isinstance(node, ast.AST) and id(node) not in bounds:
                    yield parent, field, index, node


def _put(parent: ast.AST, field: str, index: int | None, node: ast.AST) -> None:
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def _quantities(function: ast.AST) -> list[ast.expr]:
    """Variables that a function assigns, and the slices that it reads: one node for each."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store) and BOUND not in node.id}
    slices = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and not is_extent(node)
    ]
    variables = [ast.Name(name, ast.Load()) for name in sorted(stored)]
    return [*variables, *{ast.dump(node): node for node in slices}.values()]
