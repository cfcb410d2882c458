"""Inputs for further calls of a function, drawn so that it shows who has combined them.

An operation that combines its inputs gets them in two parts. In one call the first part is another, in the
next the second, and in a replay both are: a host that has seen only one of them changed cannot have combined
what a replay needs. The parts are arrays, or half of the elements each, drawn by lot: which ones no function
can know.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.grading.oracle import draw_inputs, expected_of
from grader.kinds.attempts.other_inputs import loosened, other_than, shuffled
from grader.model.compare import compare, data_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle
    from grader.model import Case

    Arrays = Mapping[str, NDArray[Any]]

_NEARLY_ALL, _SOME = 0.9, 0.1
"""Least share of an output that depends on both parts, of arrays and of elements drawn by lot.

The arrays are no secret.
"""

_TRIES = 6
"""Draws by lot: whether a largest element depends on both halves is a matter of luck."""


@frozen(eq=False)
class Draws:
    """The inputs of a case, with another ``first`` part, another ``second`` part, and ``both``.

    Where nothing is combined (``crossed`` is empty) all three are others altogether. ``expected`` is right
    for ``both``, within bounds that ask whether inputs decide and no more, ``exact`` within the oracle's.
    """

    base: Arrays
    first: Arrays
    second: Arrays
    both: Arrays
    expected: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]
    exact: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]
    crossed: Mapping[str, NDArray[np.bool_]]
    """Mask, for each output, of the elements that depend on both parts."""

    def is_right(self, left: Arrays) -> bool:
        """True if these outputs are right for ``both``, as far as inputs decide."""
        return _are_right(left, self.expected)

    def is_exact(self, left: Arrays) -> bool:
        """True if they are right for ``both`` within the oracle's own bounds: approximations are not."""
        return _are_right(left, self.exact)

    @property
    def combined(self) -> int:
        """Number of elements of outputs that depend on both parts."""
        return sum(int(np.count_nonzero(mask)) for mask in self.crossed.values())


def bytes_of(inputs: Arrays) -> int:
    """The bytes that inputs take at least."""
    return sum(len(zlib.compress(array.tobytes(), 9)) for array in inputs.values())


def _are_right(left: Arrays, expected: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]) -> bool:
    pairs = ((name, left[name], *of_output) for name, of_output in expected.items())
    return not any(
        compare(name, got.reshape(values.shape), values, bound).wrong for name, got, values, bound in pairs
    )


def draws_of(oracle: Oracle, case: Case, outputs: Sequence[str]) -> Draws | None:
    """Inputs for further calls at a case's shape; None where no others have other results."""
    base = draw_inputs(oracle, case)
    others = [_other(base, oracle, case, number) for number in range(2)]
    other, another = others
    if other is None or another is None:
        return None
    judge = _Judge(oracle, case, outputs, base)
    for least, first, second, both in _splits(base, other, another, case):
        crossed = judge.crossed(first, second, both, least)
        if crossed is not None:
            return Draws(base, first, second, both, judge.loosely(both), judge.exactly(both), crossed)
    if not judge.differ(base, other):
        return None
    return Draws(base, other, another, other, judge.loosely(other), judge.exactly(other), {})


def rearranged(oracle: Oracle, case: Case, outputs: Sequence[str], draws: Draws) -> Draws | None:
    """The same with each input's own numbers in another order for ``both``.

    None where that has no other result, or the oracle takes none in that order.
    """
    rng = np.random.default_rng((case.seed, 3))
    both = shuffled(draws.base, rng)
    judge = _Judge(oracle, case, outputs, draws.base)
    with suppress(OurError):
        if judge.differ(draws.base, both):
            return replace(draws, both=both, expected=judge.loosely(both), exact=judge.exactly(both))
    return None


def _other(base: Arrays, oracle: Oracle, case: Case, number: int) -> Arrays | None:
    return other_than(base, oracle, replace(case, seed=case.seed + number), case.shape)


def _splits(
    base: Arrays, other: Arrays, another: Arrays, case: Case
) -> Iterator[tuple[float, Arrays, Arrays, Arrays]]:
    """Another first part, another second part, and both; and how much of an output is to depend on both."""
    names = [name for name in base if not np.array_equal(base[name], other[name])]
    for name in names if len(names) > 1 else ():
        first = {**base, name: other[name]}
        yield _NEARLY_ALL, first, {**other, name: base[name]}, other
    rng = np.random.default_rng((case.seed, 2))
    for number in range(_TRIES):
        both = another if number % 2 else other
        masks = {name: rng.random(array.shape) < 1 / 2 for name, array in base.items()}
        first = {name: np.where(masks[name], both[name], base[name]) for name in base}
        second = {name: np.where(masks[name], base[name], both[name]) for name in base}
        yield _SOME, first, second, both


@frozen
class _Judge:
    """Answers of the oracle for inputs at a case's shape."""

    oracle: Oracle
    case: Case
    outputs: Sequence[str]
    base: Arrays

    def crossed(
        self, first: Arrays, second: Arrays, both: Arrays, least: float
    ) -> Mapping[str, NDArray[np.bool_]] | None:
        """Mask of elements that depend on both parts; None if too few do, or a result serves for ``both``."""
        values = [self._values(inputs) for inputs in (self.base, first, second, both)]
        masks, changed, crossed = {}, 0, 0
        for name in self.outputs:
            at_base, *others = (of_call[name] for of_call in values)
            differs = [other != at_base for other in others]
            masks[name] = differs[0] & differs[1] & differs[2]
            changed += int(np.count_nonzero(differs[2]))
            crossed += int(np.count_nonzero(masks[name]))
        if not crossed or crossed < least * changed:
            return None
        return masks if all(self.differ(one, both) for one in (self.base, first, second)) else None

    def differ(self, one: Arrays, other: Arrays) -> bool:
        """True if the right results for ``one`` are wrong for the other."""
        values = self._values(one)
        loosely = self.loosely(other)
        return any(compare(name, values[name], *loosely[name]).wrong for name in self.outputs)

    def loosely(self, inputs: Arrays) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
        """Right results for inputs, with bounds that only test whether the inputs decide."""
        expected = self._expected(inputs)
        return {name: (expected[name][0], loosened(*expected[name])) for name in self.outputs}

    def exactly(self, inputs: Arrays) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
        """Right results for inputs."""
        expected = self._expected(inputs)
        return {name: expected[name] for name in self.outputs}

    def _values(self, inputs: Arrays) -> dict[str, NDArray[Any]]:
        return {name: data_of(pair[0]) for name, pair in self._expected(inputs).items()}

    def _expected(self, inputs: Arrays) -> Mapping[str, tuple[NDArray[Any], NDArray[Any]]]:
        return expected_of(self.oracle, inputs, dict(self.case.shape), self.outputs, self.case.id)
