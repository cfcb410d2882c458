"""Whether a kernel computes what it leaves, or the host does: it is launched again with other inputs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.compare import compare
from grader.errors import OurError
from grader.oracle import expected_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from grader.checks.array import KernelOutputCheck
    from grader.device.seen import KeptLaunches, SeenLaunch
    from grader.model import Case, Named
    from grader.oracle import Oracle

    Inputs = Mapping[str, NDArray[Any]]

_LIKELY = "random"
"""The kind of inputs that is tried first: what other kinds are made of may be all the same."""

MOST_WORK = 300_000
"""The work of launches, as they took it first, after which no more of them are made again."""

_LOOSE = 0.02
"""How far off an element may be here, as a share of the largest: what other inputs give is further."""


def computes(
    check: KernelOutputCheck,
    oracle: Oracle,
    case: Case,
    shape: Named[int],
    inputs: Inputs,
    launch: SeenLaunch,
) -> bool:
    """Whether a kernel that leaves what is right for its ``inputs`` does so for others, too.

    It is enough that it does for another one of its arguments alone: of the others it may read what the host
    has made of them. Nobody is accused where the oracle has no answer, or there is no memory for a trial.
    """
    other = other_than(inputs, oracle, case, shape)
    if other is None or not launch.kept.launches:
        return True
    alone = ({**inputs, name: array} for name, array in other.items() if len(other) > 1)
    try:
        if _trial(check, oracle, case, shape, other, launch).is_right():
            return True
        trials = (_trial(check, oracle, case, shape, some, launch) for some in alone)
        return any(trial.asks_for_others() and trial.is_right() for trial in trials)
    except (OurError, MemoryError):
        return True


def _trial(
    check: KernelOutputCheck,
    oracle: Oracle,
    case: Case,
    shape: Named[int],
    inputs: Inputs,
    launch: SeenLaunch,
) -> _Trial:
    """A launch, to be made again with these inputs; what is right follows from what memory holds of them."""
    at, kept = check.arguments.index, launch.kept
    contents = kept.held({at(name): array.tobytes() for name, array in inputs.items()})
    held = {n: np.frombuffer(contents[at(n)], a.dtype).reshape(a.shape) for n, a in inputs.items()}
    values, bound = expected_of(oracle, held, dict(shape), [check.output], case.id)[check.output]
    _, left = launch.pointers[at(check.output)]
    return _Trial(check, kept, contents, left, values, loosened(values, bound))


@dataclass(frozen=True, slots=True)
class _Trial:
    """Launches of a kernel that are made again with other ``contents`` of its inputs.

    For these, ``values`` are right within ``loose``. What the last launch left for its own is in ``left``.
    """

    check: KernelOutputCheck
    kept: KeptLaunches
    contents: dict[int, bytes]
    left: bytes
    values: NDArray[Any]
    loose: NDArray[Any]

    def asks_for_others(self) -> bool:
        """Whether what the launch left is wrong for these inputs."""
        return self._is_wrong(self.left)

    def is_right(self) -> bool:
        """Whether what it leaves is right for these inputs.

        Several launches may compute an output together, so the last ones are made again, more and more of
        them. Where some are not kept any more that would be needed, it is enough that what they leave has
        changed; where they take too much, nobody knows. How precise it is was asked for its own inputs.
        """
        left: bytes | None = self.left
        work = 0
        for count in range(1, len(self.kept.launches) + 1):
            work += sum(launch.work for launch in self.kept.launches[-count:])
            if count > 1 and work > MOST_WORK:
                return True
            left = self.kept.left_for(self.contents, self.check.arguments.index(self.check.output), count)
            if left is None or not self._is_wrong(left):
                return True
        return not self.kept.all and left != self.left

    def _is_wrong(self, left: bytes) -> bool:
        got = as_array(left, np.dtype(self.check.dtype), self.values.shape)
        return (
            self.values.size > 0
            and got is not None
            and bool(compare(self.check.compared_as, got, self.values, self.loose).wrong)
        )


def loosened(values: NDArray[Any], bound: ArrayLike) -> NDArray[Any]:
    """A bound that only asks whether inputs decide; finite even where an infinity is expected."""
    sizes = np.abs(np.ma.compressed(values).astype(np.float64))
    loose: NDArray[Any] = np.ma.filled(bound, 0) + _LOOSE * sizes[np.isfinite(sizes)].max(initial=0.0)
    return loose


def other_than(inputs: Inputs, oracle: Oracle, case: Case, shape: Named[int]) -> Inputs | None:
    """Inputs of the same extents and types with other numbers; None where the oracle makes none."""
    likely = (kind for kind in oracle.kinds if kind == _LIKELY)
    for kind in dict.fromkeys((*likely, *oracle.kinds)):
        with suppress(OurError):  # not every kind is for every shape
            drawn = oracle.inputs(kind, dict(shape), np.random.default_rng((case.seed, 1)))
            other = {name: drawn[name] for name in inputs if name in drawn}
            alike = all((other[n].shape, other[n].dtype) == (inputs[n].shape, inputs[n].dtype) for n in other)
            changed = any(not np.array_equal(array, inputs[name]) for name, array in other.items())
            if alike and changed and len(other) == len(inputs):
                return other
    return None


def as_array(content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any] | None:
    """The array at the beginning of some bytes; None where they are too few."""
    size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    return None if len(content) < size else np.frombuffer(content[:size], dtype).reshape(shape)
