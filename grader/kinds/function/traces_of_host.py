"""Signs that the host has computed a result: in what it sent, what came back, and what it hands back.

They are looked for only in a case without a proof that kernels compute (`computed_on_host`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen
from grader.grading.oracle import expected_of
from grader.kinds.attempts.words import RUN, joined, located, numbers_in, types_of
from grader.kinds.function.calling import aligned
from grader.kinds.function.finishing import combined
from grader.model import Clause
from grader.model.compare import compare
from grader.running.device.requests import CopyIn, Push

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.kinds.function.calling import FurtherCalls, LoggedCall
    from grader.kinds.function.draws import Draws
    from grader.kinds.function.replaying import Replays
    from grader.model import CaseEvidence, Submission

REST = "rest-from-host"
"""The name of a clause: a part of the result comes from the device, and no more."""

_HALF, _FEW, _OF_EACH, _BITS = 0.5, 0.1, 2, 8
"""Shares of numbers or of work that say that all but chance, or all but nothing, is there; and requests that
may spell out a number."""

_AGAIN = 3
"""Further calls with the same inputs that are to ask for the same."""

_THREADS = re.compile(
    rb"<(?:thread|future|execution|pthread\.h|threads\.h|omp\.h)>|\bpthread_create\b|\bpragma\s+omp\b"
)
"""Text of a program whose host has threads."""


def _may_have_threads(submission: Submission) -> bool:
    """True if a program may have threads of the host, which ask for the same in another order each time."""
    return any(_THREADS.search(text) for text in (submission.source, *dict(submission.headers).values()))


@frozen
class Traces:
    """Signs of host computation in one case."""

    further: FurtherCalls
    case: CaseEvidence
    draws: Draws
    graded: LoggedCall
    replays: Replays

    @property
    def is_orderly(self) -> bool:
        """True if the function asks for the same in the same order, so that two calls may be compared.

        Text that may mean threads is asked by calling it again with its own inputs: it may be a decoration.
        """
        if not _may_have_threads(self.further.submission):
            return True
        calls = self.further.with_inputs(self.case, [self.draws.base] * _AGAIN)
        return all(call is not None and call.digest == self.graded.digest for call in calls)

    def sign_without_log(self) -> Clause | None:
        """Sign that does without a log of the requests: more was asked for than can be searched."""
        return next(chain(self._alike_without_input(), self._little_work(), self._without_kernels()), None)

    def sign(self, first: LoggedCall | None, second: LoggedCall | None) -> Clause | None:
        """Sign that the host has computed the result; None where there is none."""
        return next(self._signs(first, second), None)

    def _signs(self, first: LoggedCall | None, second: LoggedCall | None) -> Iterator[Clause]:
        calls = [self.graded, *(call for call in (first, second) if call is not None)]
        yield from self._unsent(calls)
        if first is None or second is None:
            yield from self._alike_without_input()
        elif self.replays.is_of_one_form((first, second)):
            if self.is_orderly:
                yield from self.alike(first, second)
        elif not _may_have_threads(self.further.submission):
            yield from self.aligned(first, second)
        yield from self._little_work()
        yield from self._without_kernels()
        if first is None or second is None:
            yield from self._gives_up()

    def aligned(self, first: LoggedCall, second: LoggedCall) -> Iterator[Clause]:
        """Signs in calls that request more, each of another kind; all that comes back is to be alike."""
        kinds = ([entry.kind for entry in call.entries] for call in (self.graded, first, second))
        differ = sum(a not in (b, c) for a, b, c in zip(*kinds, strict=False))
        if differ >= max(_HALF * self.draws.combined, _BITS):
            yield Clause("host-sends-result")
        graded, *others = aligned([self.graded, first, second])
        if graded.back and len(graded.back) == len(self.graded.back):
            alike = replace(self, graded=graded, replays=replace(self.replays, graded=graded))
            of_one_form = all(other.forms == graded.forms for other in others)
            yield from alike.alike(*others, of_one_form=of_one_form)

    def alike(self, first: LoggedCall, second: LoggedCall, *, of_one_form: bool = True) -> Iterator[Clause]:
        """Signs in calls, request by request; calls not ``of_one_form`` may send the same in other types."""
        calls = [self.graded, first, second]
        elements = sum(
            array.size for name, array in self.graded.arrays.items() if name in self.draws.expected
        )
        few = sum(array.size for array in self.draws.base.values()) < RUN  # a sign may be all that differs
        if self.draws.crossed and not few:
            if of_one_form and self._mixed(first, second) >= _HALF * self.draws.combined:
                yield Clause("host-sends-result")
            if int(np.count_nonzero(combined(calls))) < _HALF * self.draws.combined:
                yield Clause("nothing-computed-comes-back")
        if not self.draws.crossed and (self._sends_outputs(calls) or self._sends_by_outputs(first)):
            yield Clause("host-sends-result")
        if self.replays.interface.pointers == "host":
            yield from self._unplaced(calls, elements)

    def _unplaced(self, calls: list[LoggedCall], elements: int) -> Iterator[Clause]:
        """Sign that elements of the result are absent from what comes back, or in another order."""
        present, in_order = 0, True
        for name in self.draws.expected:
            numbers = self.replays.placed(name, calls)
            present += int(np.count_nonzero(numbers.present))
            in_order = in_order and self.replays.is_in_order(numbers)
        if present < elements and present:
            yield Clause(REST, (("from_device", present), ("elements", elements)))
        elif not present and not self.draws.crossed:
            yield Clause("nothing-from-device")
        if not self.draws.crossed and not in_order:
            yield Clause("host-moves-elements")

    def _unsent(self, calls: list[LoggedCall]) -> Iterator[Clause]:
        """Sign that nothing of an input came to the device: neither its numbers, nor what changes with it."""
        if self.replays.interface.pointers == "device" or len(calls) == 1:
            return
        for name in self._inputs_that_matter():
            changed = [c for c in calls[1:] if not np.array_equal(c.inputs[name], self.graded.inputs[name])]
            differs = any(self._changes(call) for call in changed)
            if changed and not differs and not self._has_numbers(name):
                yield Clause("input-never-sent", (("array", name),))

    def _alike_without_input(self) -> Iterator[Clause]:
        """Sign that all that is sent stays as it is where one input alone is another."""
        if self.replays.interface.pointers == "device":
            return
        for name in self._inputs_that_matter():
            inputs = {**self.draws.base, name: self.draws.both[name]}
            (call,) = self.further.with_inputs(self.case, [inputs], whole=False)
            if call is not None and call.digest == self.graded.digest:
                yield Clause("input-never-sent", (("array", name),))

    def _inputs_that_matter(self) -> Iterator[str]:
        """The inputs without which another result would be right."""
        outputs, case = list(self.draws.expected), self.case.case
        for name in self.draws.base:
            inputs = {**self.draws.both, name: self.draws.base[name]}
            expected = expected_of(self.further.oracle, inputs, dict(case.shape), outputs, case.id)
            pairs = ((n, np.asarray(expected[n][0]), *self.draws.expected[n]) for n in outputs)
            if any(compare(*pair).wrong for pair in pairs):
                yield name

    def _changes(self, call: LoggedCall) -> bool:
        """True if anything that is sent differs from the graded call."""
        one, other = (self.replays.sent(c)[0] for c in (self.graded, call))
        return len(one) == len(other) and not np.array_equal(one, other)

    def _has_numbers(self, name: str) -> bool:
        """True if numbers of an input are among what the graded call sends, in any type."""
        content, bounds = self.replays.sent(self.graded)
        values = [a.value for a in self.replays.arguments(self.graded.inputs) if a.name == name]
        for dtype in types_of(np.asarray(values[0]).dtype):
            _, elements = numbers_in([content], bounds, [np.asarray(values[0])], dtype)
            if len(np.unique(elements)) > _FEW * np.asarray(values[0]).size:
                return True
        return False

    def _mixed(self, first: LoggedCall, second: LoggedCall) -> int:
        """Bytes sent that change with each part of the inputs, or from one call to the next."""
        base, of_first, of_second = (self.replays.sent(call)[0] for call in (self.graded, first, second))
        return int(np.count_nonzero((base != of_first) & (base != of_second)))

    def _sends_outputs(self, calls: list[LoggedCall]) -> bool:
        """True if the result, element by element, is among what is sent: no kernel has to compute it."""
        contents = [
            joined([e.content for e in call.entries if isinstance(e.request, CopyIn | Push)])
            for call in calls
        ]
        for name in self.draws.expected:
            numbers = located([call.arrays[name] for call in calls], [c for c, _ in contents], contents[0][1])
            if not numbers.present.all():
                return False
        return True

    def _sends_by_outputs(self, other: LoggedCall) -> bool:
        """True if in some copy just the elements change that change in an output, but in no input."""
        copies = zip(self.graded.entries, other.entries, strict=True)
        changes = [a.sent != b.sent for a, b in copies if isinstance(a.request, CopyIn | Push)]
        inputs = [self.graded.inputs[n] != other.inputs[n] for n in self.graded.inputs]
        for name in self.draws.expected:
            wanted = (self.graded.arrays[name] != other.arrays[name]).reshape(-1)
            if min(np.count_nonzero(wanted), np.count_nonzero(~wanted)) < _BITS:
                continue
            if any(np.array_equal(mask.reshape(-1), wanted) for mask in inputs):
                continue
            for width in (1, 2, 4, 8):
                masks = (c[: c.size // width * width].reshape(-1, width).any(axis=1) for c in changes)
                if any(wanted.tobytes() in mask.tobytes() for mask in masks):
                    return True
        return False

    def _little_work(self) -> Iterator[Clause]:
        """Sign that launches do far less than the operation takes, in whole numbers, too."""
        work = self.further.oracle.work
        needed = int(work(dict(self.case.case.shape)).get("flops", 0)) if work else 0
        effort = self.graded.effort
        if effort.flops < _FEW * needed and effort.instructions < _OF_EACH * needed:
            values = (("operations", effort.flops), ("needed", needed))
            yield Clause("kernels-do-too-little", values)

    def _without_kernels(self) -> Iterator[Clause]:
        """Sign that the result is right where no kernel runs, and no memory may have held it before."""
        (call,) = self.further.with_inputs(self.case, [self.draws.both], idle=True, whole=False)
        if call is not None and self.draws.is_right(call.arrays):
            yield Clause("right-without-kernels")

    def _gives_up(self) -> Iterator[Clause]:
        """Sign that the function does not return for other inputs of the kind of its own."""
        if self.further.gives_up(self.case, self.draws.both, self.graded.work):
            yield Clause("gives-up-for-other-inputs")
