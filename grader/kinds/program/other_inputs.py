"""Whether a kernel computes what it leaves, or the host does: it is launched again with other inputs."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.compare import compare
from grader.errors import OurError
from grader.oracle import expected_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from grader.checks.array import KernelOutputCheck
    from grader.device.seen import SeenLaunch
    from grader.model import Case, Named
    from grader.oracle import Oracle

    Inputs = Mapping[str, NDArray[Any]]

_LIKELY = "random"
"""The kind of inputs that is tried first: what other kinds are made of may be all the same."""

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

    Several launches may compute an output together, so the last ones are made again, more and more of them.
    Where some are not kept any more that would be needed, it is enough that what they leave has changed.
    How precise it is was asked for its own inputs. Raises OurError where the oracle fails.
    """
    other = other_than(inputs, oracle, case, shape)
    if other is None or not launch.kept.launches:
        return True
    at = {name: check.arguments.index(name) for name in other}
    contents = launch.kept.held({at[name]: array.tobytes() for name, array in other.items()})
    held = {n: np.frombuffer(contents[at[n]], a.dtype).reshape(a.shape) for n, a in other.items()}
    values, bound = expected_of(oracle, held, dict(shape), [check.output], case.id)[check.output]
    if not values.size:
        return True
    loose = loosened(values, bound)
    output = check.arguments.index(check.output)
    _, before = launch.pointers[output]
    left: bytes | None = before
    for count in range(1, len(launch.kept.launches) + 1):
        left = launch.kept.left_for(contents, output, count)
        got = None if left is None else as_array(left, np.dtype(check.dtype), values.shape)
        if got is None or not compare(check.compared_as, got, values, loose).wrong:
            return True
    return not launch.kept.all and left != before


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
