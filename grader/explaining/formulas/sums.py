"""Mutants of an oracle whose sums leave elements out, add some twice, or are divided by another number.

A kernel that takes the tail of a row neither into its mean nor into its variance computes what the oracle
would if all of its sums did so. In such a mutant each call of `sum`, `mean`, `max` and `min` goes to
`ChangedSums`, which changes all calls over as many elements, or two of them, or one.
"""

from __future__ import annotations

import ast
from dataclasses import field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.base.records import mutable
from grader.explaining.facts import Dealt, parts
from grader.explaining.formulas.changes import START
from grader.explaining.formulas.source import (
    REDUCTIONS,
    formula_of,
    name_of,
    names_in,
    with_code,
)
from grader.explaining.mistake import Mistake, Rank, register
from grader.grading.oracle import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator
    from types import CodeType

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle

    Numbers = NDArray[Any]

SUMS = "_sums"
"""Name that a mutant's code has for the object that computes its sums."""

MOST_PAIRED = 4
"""ChangedSums up to which any two of them are changed together."""

EXTREMES = frozenset({"max", "min"})

DIVISOR = "divisor-in-formula"
TWICE = "part-added-twice"
OWN_PART = "own-part-of-sum"
"""Gives one number everywhere where each thread has one element, and divides it by itself."""
register(*(Mistake(name, Rank.FORMULA) for name in (DIVISOR, TWICE, OWN_PART)))


class SumChange(NamedTuple):
    """Change of a sum: how often each element counts, the number added, and the divisor of a mean."""

    mistake: str
    times: Numbers | None = None
    start: int = 0
    divisor: int = 0
    counts: bool = False
    """True if the elements are counted, and not added up."""
    threads: int = 0
    """Number of threads, each of which goes on with its own part."""


@mutable
class ChangedSums:
    """The sums of a formula, each with its position in it, some of them changed."""

    changed: frozenset[int] = frozenset()
    change: SumChange | None = None
    lengths: dict[int, int] = field(default_factory=dict)
    """Number of elements of each sum."""

    def __call__(self, position: int, name: str, array: Any, axis: Any = None, **options: Any) -> Any:  # noqa: ANN401
        """The sum, the mean, the largest or the smallest of an array along an axis."""
        array = np.asarray(array)
        if axis is None and not options:
            array, axis = array.reshape(-1), 0
        if not isinstance(axis, int):
            return getattr(np, name)(array, axis=axis, **options)
        length = self.lengths[position] = array.shape[axis]
        if position not in self.changed or self.change is None:
            return getattr(np, name)(array, axis=axis, **options)
        return _with_change(self.change, name, array, axis, length, options)


def _with_change(
    change: SumChange, name: str, array: Numbers, axis: int, length: int, options: dict[str, Any]
) -> Numbers:
    """One sum with this change; ValueError where there is no such change of it."""
    if name in EXTREMES:
        if change.times is None or (change.times > 1).any():
            raise ValueError(change.mistake)
        result: Numbers = getattr(np, name)(np.compress(change.times > 0, array, axis), axis=axis, **options)
        return result
    if change.threads:
        own = _own_parts(array, axis, change.threads, options)
        return own / length if name == "mean" else own
    if change.counts:
        array = np.ones_like(array)
    if change.times is not None:
        array = array * np.expand_dims(change.times, [i for i in range(array.ndim) if i != axis % array.ndim])
    if (change.divisor and name != "mean") or (change.counts and name == "mean"):
        raise ValueError(change.mistake)
    total: Numbers = array.sum(axis=axis, **options) + change.start
    return total / (change.divisor or length) if name == "mean" else total


def _own_parts(array: Numbers, axis: int, threads: int, options: dict[str, Any]) -> Numbers:
    """Sums of the elements of each thread, one for each element; ValueError where sums have no such axis."""
    if not options.get("keepdims"):
        raise ValueError(OWN_PART)
    index = np.arange(array.shape[axis])
    same = (index[:, np.newaxis] - index) % threads == 0
    return np.moveaxis(np.moveaxis(array, axis, -1) @ same, -1, axis)


def mutants_of_sums(
    oracle: Oracle,
    threads: Iterable[int],
    ask: Callable[[Oracle], object],
    only: Container[str] | None = None,
) -> Iterator[tuple[str, Oracle]]:
    """The mistakes, or ``only`` some, each with the oracle that makes it.

    ``threads`` is what a block may have along an axis. ``ask`` gives an oracle the inputs: it is asked once
    for how many elements each sum is over.
    """
    text = text_of(oracle)
    code, names = _code_with_sums(text, name_of(oracle)) if text is not None else (None, frozenset())
    if code is None:
        return
    lengths, threads = dict[int, int](), tuple(threads)
    try:
        ask(with_code(oracle, code, names, **{SUMS: ChangedSums(lengths=lengths)}))
        for changed, change in _changes(dict(lengths), threads):
            if only is None or change.mistake in only:
                yield change.mistake, with_code(oracle, code, names, **{SUMS: ChangedSums(changed, change)})
    except TypeError:  # what the file keeps has no copies
        return


def _changes(lengths: dict[int, int], threads: tuple[int, ...]) -> Iterator[tuple[frozenset[int], SumChange]]:
    """Each change with the sums that have it: all over as many elements, then two of several, then each."""
    for length in dict.fromkeys(lengths.values()):
        alike = [position for position, other in lengths.items() if other == length]
        sizes = dict.fromkeys((len(alike), *((2,) if 2 < len(alike) <= MOST_PAIRED else ()), 1))  # noqa: PLR2004
        chosen = [frozenset(some) for size in sizes for some in combinations(alike, size)]
        for change in changes_of_sum(length, threads):
            yield from ((positions, change) for positions in chosen)


def changes_of_sum(length: int, threads: Iterable[int]) -> Iterator[SumChange]:
    """Possible changes of a sum of ``length`` elements, dealt out by blocks of each number of ``threads``."""
    index = np.arange(length)
    seen = {np.ones(length, np.int64).tobytes()}
    for mistake, counted in _multiplicities(index, tuple(threads)):
        times = counted.astype(np.int64)
        if times.tobytes() not in seen and (times.any() or mistake == "tail-not-counted"):
            seen.add(times.tobytes())
            yield SumChange(mistake, times)
    for start in (1, *threads):
        yield SumChange(START, start=start)
    yield from (SumChange(OWN_PART, threads=block) for block in threads)
    for divisor in (length - 1, length + 1, *threads):
        if divisor > 0:
            yield SumChange(DIVISOR, divisor=divisor)
    yield SumChange(DIVISOR, counts=True)


def _multiplicities(index: Numbers, threads: tuple[int, ...]) -> Iterator[tuple[str, Numbers]]:
    """Multiplicities of the elements, where some are left out or added again."""
    last = index.size - 1
    yield "end-of-sum-left-out", index < last
    yield "end-of-sum-left-out", index > 0
    for block in threads:
        dealt = Dealt(np.zeros_like(index), index % block, block, block)
        named = [*parts(dealt)]
        for mistake, kept in sorted(named, key=lambda part: part[0] != "tail-not-counted"):
            yield ("first-round-of-row" if mistake == "first-round-only" else mistake), kept
        yield "last-of-tiles-left-out", dealt.thread < block - 1
        yield "not-accumulated", index >= last // block * block
        yield TWICE, 1 + (dealt.thread == 0)
        yield TWICE, 1 + (index < block)
    yield "not-accumulated", index == last
    yield TWICE, 1 + (index == 0)
    yield TWICE, 1 + (index == last)


@lru_cache(maxsize=4)
def _code_with_sums(text: str, name: str) -> tuple[CodeType | None, frozenset[str]]:
    """The code of a function whose sums are computed by `ChangedSums`; None where it has none."""
    module = formula_of(text, name)
    if module is None:
        return None, frozenset()
    wrapping = _Wrapping()
    names, module = names_in(module), ast.fix_missing_locations(wrapping.visit(module))
    return (compile(module, "<sums>", "exec") if wrapping.count else None), names


class _Wrapping(ast.NodeTransformer):
    """Each call of a sum goes to `ChangedSums`, with its position."""

    count = 0

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func
        if not isinstance(function, ast.Attribute) or function.attr not in REDUCTIONS:
            return node
        of_numpy = isinstance(function.value, ast.Name) and function.value.id in ("np", "numpy")
        array = () if of_numpy else (function.value,)
        self.count += 1
        given = [ast.Constant(self.count), ast.Constant(function.attr), *array, *node.args]
        return ast.copy_location(ast.Call(ast.Name(SUMS, ast.Load()), given, node.keywords), node)
