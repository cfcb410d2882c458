"""Search for the smallest shape at which a wrong case still fails, by running it again.

One dimension after the other is made as small as it can be while the case stays wrong, so that a student can
follow the run on paper. A kind says how it runs a shape, and how many it may run.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from grader.base.records import mutable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.model import Case, ExampleArray, Named

    Sizes = tuple[int, ...]
    Steps = Iterable[Callable[[int], Iterable[int]]]
    FirstFailing = Callable[[Iterator[Sizes]], Sizes | None]


def sizes_of(case: Case) -> Sizes:
    """The sizes of a case, without the names of its dimensions."""
    return tuple(size for _, size in case.shape)


def at_sizes(case: Case, sizes: Sizes) -> Case:
    """The same case with other sizes."""
    names = (name for name, _ in case.shape)
    return replace(case, shape=tuple(zip(names, sizes, strict=True)))


@mutable
class SmallestShapes:
    """The smallest shapes at which one submission was seen to fail, and the numbers of its small runs.

    A shape is kept by kernel, kind of inputs and mistake, an example by kernel, kind of inputs and shape.
    """

    _shapes: dict[tuple[str, str, str], Named[int]] = field(default_factory=dict)
    _examples: dict[tuple[str, str, Named[int]], tuple[ExampleArray, ...]] = field(default_factory=dict)

    def of(self, case: Case, mistake: str, search: Callable[[Sizes], Sizes | None]) -> Named[int]:
        """Smallest shape seen to fail; empty where none is smaller than the case's own.

        The shape of another case with the same mistake serves again. Else ``search`` starts from the case's
        sizes; None is a result that may not serve another case.
        """
        key = (case.kernel, case.inputs, mistake)
        before = self._shapes.get(key)
        if before is not None and all(
            size <= at for (_, size), at in zip(before, sizes_of(case), strict=True)
        ):
            return before if before != case.shape else ()
        smallest = search(sizes_of(case))
        if smallest is None:
            return ()
        shape = self._shapes[key] = at_sizes(case, smallest).shape
        return shape if shape != case.shape else ()

    def keep_example(self, case: Case, arrays: tuple[ExampleArray, ...]) -> None:
        """Keep the arrays of a run that went wrong."""
        self._examples[case.kernel, case.inputs, case.shape] = arrays

    def example(self, case: Case, shape: Named[int]) -> tuple[ExampleArray, ...] | None:
        """The arrays of a run of the case at this shape; None where none went wrong."""
        return self._examples.get((case.kernel, case.inputs, shape))


def shrunk(sizes: Sizes, steps: Steps, first_failing: FirstFailing) -> Sizes:
    """Sizes none of which can be made smaller by itself, as far as ``first_failing`` can tell.

    Each of the ``steps`` gives smaller values for one size, and is repeated until nothing fails any more.
    ``first_failing`` tries as many sizes as it can afford, and returns the first that fails.
    """
    tried: set[Sizes] = set()
    for step in steps:
        while (failing := first_failing(_untried(sizes, step, tried))) is not None:
            sizes = failing
    return sizes


def _untried(sizes: Sizes, step: Callable[[int], Iterable[int]], tried: set[Sizes]) -> Iterator[Sizes]:
    for axis, size in enumerate(sizes):
        for smaller in step(size):
            attempt = (*sizes[:axis], smaller, *sizes[axis + 1 :])
            if attempt not in tried:
                tried.add(attempt)
                yield attempt
