"""Test whether a kernel or the host computes a launch's results: it is launched again with other inputs.

    WatchedLaunch ─made again for an InputTrial▶ RelaunchResult ─against the oracle's values▶ OutputSource

The results must follow the launch's inputs: those of another draw of the oracle's, or its own in another
order. Then two elements of one input change places, and what depends on them must change with them, and
nothing else: a kernel that knows its own inputs by some of their elements does not see that, and one that
knows them by a sum of all goes another way then, and does more there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import astuple
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import OurError
from grader.base.records import frozen
from grader.grading.oracle import expected_of
from grader.model.compare import compare, data_of, mask_of
from grader.running.device.memory import BASE
from grader.running.device.relaunches import Relauncher, exchanges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from grader.grading.checks.array import KernelOutputCheck
    from grader.grading.oracle import Oracle
    from grader.model import Case, Comparison, Counters, Named
    from grader.running.device.relaunches import RelaunchResult
    from grader.running.device.watched_launches import WatchedLaunch

    Array = NDArray[Any]
    Inputs = Mapping[str, Array]

_LIKELY = "random"
"""The kind of inputs that is tried first: what other kinds are made of may be all the same."""

_FURTHER_KINDS, _SWAPS = 3, 3
"""Kinds that are tried beside it, and pairs of elements of each input that change places."""

WORK_TIMES, WORK_MORE = 6, 300_000
"""Most work of all trials together: a multiple of that of the program's launches, plus a constant."""

_LOOSE = 0.02
"""Largest error of an element here, as a share of the largest: other inputs make a larger difference."""

_FAR = 0.25
"""Largest error of the changes of all elements together, as a share of the right changes."""


_MORE, _MORE_BESIDE = 1.5, 64
"""Limits above which launches went another way: a multiple of the other's counts, plus a constant."""

_DISTINCT, _USED = 3, 0.5
"""Different numbers that an input has at least, and the share of those that are not 0, so that each of its
elements counts: a product with ones and zeros is a copy."""


class OutputSource(StrEnum):
    """Result of the test of a right output with other inputs."""

    COMPUTES = ""
    NOT_FROM_INPUTS = "not-from-inputs"
    STOPS = "stops-for-other-inputs"
    UNKNOWN = "unknown-who-computes"


@frozen
class RightOutput:
    """An output that is right for the ``inputs`` of a launch: ``values`` are expected, within ``bound``."""

    check: KernelOutputCheck
    oracle: Oracle
    case: Case
    shape: Named[int]
    inputs: Inputs
    values: Array
    bound: ArrayLike
    launch: WatchedLaunch
    comparison: Comparison

    def answer(self) -> OutputSource:
        """Result of the test for other inputs, or for another one of them alone.

        The remaining inputs may be what the host has made of them. There is no accusation where the oracle
        has no other inputs. Where there is no memory for a trial, nothing is known: a host may have taken it.
        """
        recorded = self.launch.recording.events
        work = sum(getattr(event, "work", 0) for event in recorded)
        relauncher = Relauncher(self.launch, WORK_TIMES * work + WORK_MORE)
        was_wrong, has_stopped = False, False
        try:
            for trial in self._trials():
                for start, others in self.launch.starts():
                    outcome = trial.outcome(relauncher, start, others=others)
                    if outcome is InputsOutcome.RIGHT:
                        return self._with_swapped_elements(trial.inputs, relauncher, start, others=others)
                    if trial.is_drawn:
                        was_wrong |= outcome in (InputsOutcome.WRONG, InputsOutcome.NEAR)
                        has_stopped |= outcome is InputsOutcome.STOPPED
        except MemoryError:
            return OutputSource.UNKNOWN
        if was_wrong:
            return OutputSource.NOT_FROM_INPUTS
        return OutputSource.STOPS if has_stopped else OutputSource.COMPUTES

    def _trials(self) -> Iterator[InputTrial]:
        """Inputs to be tried: other numbers, for one of the inputs alone, and its own in another order."""
        drawn = other_than(self.inputs, self.oracle, self.case, self.shape)
        if drawn is not None:
            yield InputTrial(self, drawn, is_drawn=True)
            for alone in self._alone(drawn):
                yield InputTrial(self, alone, is_drawn=True)
        rng = np.random.default_rng((self.case.seed, 2))
        in_other_order = shuffled(self.inputs, rng)
        for inputs in (in_other_order, *self._alone(in_other_order)):
            yield InputTrial(self, inputs)
        for other in islice(self._further_kinds(), _FURTHER_KINDS):
            for inputs in (other, *self._alone(other)):
                yield InputTrial(self, inputs)

    def _alone(self, other: Inputs) -> Iterator[Inputs]:
        """One of the inputs alone with its other numbers, where each number of all others counts."""
        for name, array in other.items():
            rest = [own for n, own in self.inputs.items() if n != name]
            if rest and all(map(_each_counts, rest)):
                yield {**self.inputs, name: array}

    def _further_kinds(self) -> Iterator[Inputs]:
        """Inputs of further kinds that no program can know, since they are drawn."""
        for kind in self.oracle.kinds:
            with suppress(OurError):
                one, other = (self._random_inputs(kind, seed) for seed in (3, 4))
                if all(map(_each_counts, one.values())) and not any(
                    np.array_equal(one[name], other[name]) for name in one
                ):
                    yield one

    def _random_inputs(self, kind: str, seed: int) -> Inputs:
        drawn = self.oracle.inputs(kind, dict(self.shape), np.random.default_rng((self.case.seed, seed)))
        return {name: drawn[name].astype(own.dtype) for name, own in self.inputs.items()}

    def _with_swapped_elements(
        self, inputs: Inputs, relauncher: Relauncher, start: int, *, others: bool
    ) -> OutputSource:
        """Result where two elements of its own inputs have changed places, one pair at a time.

        Only inputs are tried of which others were right: ``inputs`` has those that were not changed as they
        are.
        """
        rng = np.random.default_rng((self.case.seed, 5))
        for name, own in self.inputs.items():
            if np.array_equal(own, inputs[name]):
                continue
            for _ in range(_SWAPS):
                for changed in (_swapped(own, rng), _replaced(own, rng)):
                    outcome = InputTrial(self, {**self.inputs, name: changed}).outcome(
                        relauncher, start, others=others, same_way=True
                    )
                    if outcome in (InputsOutcome.WRONG, InputsOutcome.STOPPED):
                        return OutputSource.NOT_FROM_INPUTS
                    if outcome in (InputsOutcome.RIGHT, InputsOutcome.NEAR):
                        break
        return OutputSource.COMPUTES


class InputsOutcome(StrEnum):
    """Outcome of a trial; it is open where other inputs have no other output.

    An output that is near is no more than an approximation: the rest of an output that was right is from
    elsewhere.
    """

    RIGHT = "right"
    NEAR = "near"
    WRONG = "wrong"
    STOPPED = "stopped"
    OPEN = "open"


@frozen
class InputTrial:
    """Other ``inputs`` for a right output; ``is_drawn`` by the oracle, so that a right kernel takes them."""

    of: RightOutput
    inputs: Inputs
    is_drawn: bool = False

    def outcome(
        self, relauncher: Relauncher, start: int, *, others: bool, same_way: bool = False
    ) -> InputsOutcome:
        """Outcome of the launches from an event on for these inputs.

        They must not change these inputs if they left the own ones as they were, for what is right follows
        from the inputs of the last one. With ``same_way`` they must not do far more than they did. Raises
        MemoryError.
        """
        if relauncher.work <= 0:
            return InputsOutcome.OPEN
        launch, at = self.of.launch, self.of.check.arguments.index
        own = {at(name): array.tobytes() for name, array in self.of.inputs.items()}
        other = {at(name): array.tobytes() for name, array in self.inputs.items()}
        changed = exchanges(launch, own, other)
        result = relauncher.result_from(changed, start, others=others)
        if not result.ended and relauncher.work <= 0:
            return InputsOutcome.OPEN
        outcome = self._outcome(result, by_change=same_way)
        went_another_way = not result.inputs_unchanged or (same_way and _does_more(result))
        is_right = outcome in (InputsOutcome.RIGHT, InputsOutcome.NEAR)
        return InputsOutcome.WRONG if is_right and went_another_way else outcome

    def _outcome(self, result: RelaunchResult, *, by_change: bool) -> InputsOutcome:
        of, at = self.of, self.of.check.arguments.index
        recorded = of.launch.recorded
        arrays = {
            name: _array_at(result.before, recorded.address(at(name)), array.dtype, array)
            for name, array in of.inputs.items()
        }
        held = {name: array for name, array in arrays.items() if array is not None}
        try:
            expected = expected_of(of.oracle, held, dict(of.shape), [of.check.output], of.case.id)
        except OurError:
            return InputsOutcome.OPEN if result.ended else InputsOutcome.STOPPED
        values, bound = expected[of.check.output]
        dtype = np.dtype(of.check.dtype)
        target = recorded.address(at(of.check.output))
        values_left = _array_at(result.after, target, dtype, of.values)
        own = as_array(of.launch.pointers[at(of.check.output)][1], dtype, of.values.shape)
        if values_left is None or own is None or values.shape != of.values.shape:
            return InputsOutcome.OPEN
        before = (of.values, of.bound) if by_change else (own, 0.0)
        right = self._compared(values_left, own, (values, bound), before)
        return InputsOutcome.STOPPED if right is InputsOutcome.WRONG and not result.ended else right

    def _compared(
        self,
        values_left: Array,
        own: Array,
        expected: tuple[Array, ArrayLike],
        before: tuple[Array, ArrayLike],
    ) -> InputsOutcome:
        """Outcome of comparing an output's change from its ``own`` values with the ``expected`` one.

        The expected change is from what was right ``before``, each within a bound; or from the own values,
        where these may have been such that anything was right.
        """
        of, (values, bound) = self.of, expected
        slack = data_of(bound) + data_of(before[1]) + np.zeros(values.shape)
        with np.errstate(invalid="ignore", over="ignore"):
            wanted = _as_float(values) - _as_float(before[0])
            has = values_left.astype(np.float64) - own.astype(np.float64)
            off = np.abs(has - wanted)
        counts = np.isfinite(wanted) & np.isfinite(slack) & ~mask_of(values) & ~mask_of(before[0])
        change = np.abs(wanted[counts])
        if np.maximum(change - slack[counts], 0).sum() <= (1 - _FAR) * change.sum():
            return InputsOutcome.OPEN
        far = np.maximum(np.nan_to_num(off[counts], nan=np.inf) - slack[counts], 0).sum()
        name, loose = of.check.compared_as, loosened(values, bound)
        if far > _FAR * change.sum() or compare(name, values_left, values, loose).wrong:
            return InputsOutcome.WRONG
        return InputsOutcome.NEAR if compare(name, values_left, values, bound).wrong else InputsOutcome.RIGHT


def _does_more(result: RelaunchResult) -> bool:
    """True if launches did far more than they had done: instructions, arithmetic, loads."""
    now, before = ([pair[index] for pair in result.counters] for index in (0, 1))
    return effort_of(now).is_far_above(effort_of(before))


def _as_float(values: Array) -> NDArray[np.float64]:
    return np.asarray(data_of(values), np.float64)


def _array_at(memory: NDArray[np.uint8], address: int, dtype: np.dtype[Any], like: Array) -> Array | None:
    """The array of a type that lies at an address in a copy of device memory."""
    start = address - BASE
    return as_array(memory[start : start + dtype.itemsize * like.size].tobytes(), dtype, like.shape)


def _each_counts(array: Array) -> bool:
    """True if an input has such numbers that each of its elements counts."""
    return bool(len(np.unique(array)) >= _DISTINCT and np.count_nonzero(array) >= _USED * array.size)


def _swapped(own: Array, rng: np.random.Generator) -> Array:
    """The same elements, two of which have changed places; the same array where all are equal."""
    flat = own.reshape(-1).copy()
    one = int(rng.integers(flat.size)) if flat.size else 0
    others = np.flatnonzero(flat != flat[one]) if flat.size else ()
    if len(others):
        other = int(rng.choice(others))
        flat[[one, other]] = flat[[other, one]]
    return flat.reshape(own.shape)


def _replaced(own: Array, rng: np.random.Generator) -> Array:
    """The same elements, one of which has the number of another."""
    flat = own.reshape(-1).copy()
    one = int(rng.integers(flat.size)) if flat.size else 0
    others = flat[flat != flat[one]] if flat.size else ()
    if len(others):
        flat[one] = rng.choice(others)
    return flat.reshape(own.shape)


@frozen
class LaunchEffort:
    """Work of the threads of launches, summed over all of them."""

    instructions: int = 0
    flops: int = 0
    loaded: int = 0
    """Bytes of global memory."""

    def is_far_above(self, other: LaunchEffort) -> bool:
        """True if these launches did so far more than the others that they went another way."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return any(own > _MORE * theirs + _MORE_BESIDE for own, theirs in pairs)


def effort_of(counters: Sequence[Counters]) -> LaunchEffort:
    """Work of launches, by their counters."""
    return LaunchEffort(
        sum(of_launch.instructions for of_launch in counters),
        sum(of_launch.flops for of_launch in counters),
        sum(of_launch.global_load_bytes for of_launch in counters),
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


def shuffled(inputs: Inputs, rng: np.random.Generator) -> Inputs:
    """Inputs with their own numbers, those of each in another order."""
    return {n: rng.permutation(array.reshape(-1)).reshape(array.shape) for n, array in inputs.items()}


def as_array(content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any] | None:
    """The array at the beginning of some bytes; None where they are too few."""
    size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    return None if len(content) < size else np.frombuffer(content[:size], dtype).reshape(shape)
