"""Test whether a function's right results come from its kernels or from the host.

It is a question of where data flow, and each right case is asked it for itself:

    graded call ─replayed with other inputs▶ right: its kernels compute
    further calls, each with a part of the inputs changed ─replayed together▶ right: its kernels compute
                               ─what was sent and came back▶ the host's, or unknown

A proof is a result that is right for inputs that the host does not know, or not together (`replaying`,
`finishing`), by launches that do no more than for their own, and that is not made of what the host has sent
beside its inputs (`other_sent_bytes`). Without one, what further calls have sent and got back shows how the
host came by its result; where it shows nothing it is a question to staff.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import log_swallowed
from grader.base.records import frozen
from grader.grading.oracle import draw_inputs, expected_of
from grader.kinds.attempts.words import joined, numbers_in
from grader.kinds.function.draws import bytes_of, draws_of, rearranged
from grader.kinds.function.finishing import MOST, combined, swapping
from grader.kinds.function.other_sent_bytes import OtherSentBytes
from grader.kinds.function.replaying import Replays
from grader.kinds.function.traces_of_host import REST, Traces
from grader.kinds.plan import size
from grader.model import UNKNOWN_AUTHOR, Clause

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from grader.kinds.function.calling import FurtherCalls, LoggedCall
    from grader.kinds.function.draws import Draws
    from grader.model import CaseEvidence

    Bytes = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

_SEARCH_FAILED = Clause("not-asked-who-computes")

_CALLS_AGAIN = 10
"""Times that further calls are made again, if they ask their device for the same in another order."""

_MOST_SEARCHED, _MOST_SEARCHED_TIMES = 1 << 22, 8
"""Most bytes that a call may send to be searched for the inputs: a number, and a multiple of their size."""

_FEW_READ = 0.1
"""Share of the numbers of inputs in device memory that a host may read and yet compute nothing from them."""

_MOST_COMPARED = 1 << 24
"""Most bytes that calls may send to be compared with each other."""


def with_host_origin(
    further: FurtherCalls, cases: tuple[CaseEvidence, ...], calls: Mapping[str, LoggedCall]
) -> tuple[CaseEvidence, ...]:
    """The cases; a right one is marked where its result is the host's, or where its origin is unknown.

    ``calls`` are the graded ones on an emulated device, by their cases.
    """
    right = (case for case in cases if case.launches and is_right(case))
    judged = {
        case.case.id: _with_origin(further, case, calls) for case in sorted(right, key=_size, reverse=True)
    }
    return tuple(judged.get(case.case.id, case) for case in cases)


def _size(case: CaseEvidence) -> int:
    return size(case.case)


def is_right(case: CaseEvidence) -> bool:
    """True if a call came to its end and left right results."""
    results = [comparison for comparison in case.comparisons if not comparison.kernel]
    wrong = any(comparison.wrong for comparison in results) or case.changed_inputs
    return case.completed and not case.error and bool(results) and not wrong


def _with_origin(further: FurtherCalls, case: CaseEvidence, calls: Mapping[str, LoggedCall]) -> CaseEvidence:
    """A case; where its result is not proved to be its kernels', it says what shows who has computed it."""
    try:
        outputs = [comparison.array for comparison in case.comparisons if not comparison.kernel]
        draws = draws_of(further.oracle, case.case, outputs)
        if draws is None:
            return _with_origin_for_any_inputs(further, case, outputs)
        graded = calls.get(case.case.id) or further.with_inputs(case, [draws.base], whole=False)[0]
        if graded is None:
            return replace(case, computed_by=UNKNOWN_AUTHOR)
        return _OriginSearch(further, case, draws, graded).marked_case()
    except MemoryError:  # a function may have taken it
        return replace(case, computed_by=UNKNOWN_AUTHOR)
    except Exception:  # noqa: BLE001 - our failure accuses no student, and staff are asked
        log_swallowed("asking whether the host has computed a function's result")
        return replace(case, computed_by=_SEARCH_FAILED)


def _with_origin_for_any_inputs(
    further: FurtherCalls, case: CaseEvidence, outputs: Sequence[str]
) -> CaseEvidence:
    """A case whose results are right for all inputs: it is asked whether they are where no kernel runs.

    Zeros are: memory may have held them before.
    """
    inputs = draw_inputs(further.oracle, case.case)
    expected = expected_of(further.oracle, inputs, dict(case.case.shape), outputs, case.case.id)
    if not any(np.ma.filled(expected[name][0], 0).any() for name in outputs):
        return case
    (call,) = further.with_inputs(case, [inputs], idle=True)
    of_host = call is not None and is_right(replace(call.evidence, launches=1))
    return replace(case, of_host=True, computed_by=Clause("right-without-kernels")) if of_host else case


@frozen
class _OriginSearch:
    """Search for the origin of one case's result: kernels or host."""

    further: FurtherCalls
    case: CaseEvidence
    draws: Draws
    graded: LoggedCall

    def marked_case(self) -> CaseEvidence:
        """The case, marked unless its kernels are proved to compute."""
        replays = self._replays()
        traces = Traces(self.further, self.case, self.draws, self.graded, replays)
        if not self._is_compared():
            return self._marked(traces.sign_without_log() or UNKNOWN_AUTHOR)
        if not self.draws.crossed and replays.is_right_by_copies():
            return self._marked(Clause("right-without-kernels"))
        if self._host_receives_too_little():
            return self.case
        is_proved = self._is_proved_alone(replays)
        if is_proved and not self._other_sent_bytes(replays, [self.graded]).may_hold_result():
            return self.case
        first, second = self._further_calls(replays)
        sign = UNKNOWN_AUTHOR if is_proved else None  # the rest of what it sends is not searched yet
        if first is not None and second is not None and replays.is_of_one_form((first, second)):
            is_proved, sign = self._proof_by_further_calls(replays, first, second, is_proved=is_proved)
            if is_proved:
                return self.case
            if sign is not None and sign is not UNKNOWN_AUTHOR and not traces.is_orderly:
                sign = None
        if sign is not UNKNOWN_AUTHOR:
            sign = traces.sign(first, second) or sign or UNKNOWN_AUTHOR
            if sign.name == REST and first is not None and second is not None:
                sign = UNKNOWN_AUTHOR if self._follows(replays, first, second) else sign
        return self._marked(sign)

    def _marked(self, sign: Clause) -> CaseEvidence:
        return replace(self.case, of_host=sign is not UNKNOWN_AUTHOR, computed_by=sign)

    def _further_calls(self, replays: Replays) -> tuple[LoggedCall | None, ...]:
        """Calls with another first and another second part of the inputs, of one form if possible.

        Threads of the host ask for the same in another order each time: then they are made again.
        """
        inputs = [self.draws.first, self.draws.second]
        calls = self.further.with_inputs(self.case, inputs)
        for _ in range(_CALLS_AGAIN):
            if None in calls or all(replays.is_of_one_form([call]) for call in calls if call is not None):
                break
            repeated = self.further.with_inputs(self.case, inputs)
            calls = tuple(
                call if call is not None and replays.is_of_one_form([call]) else other
                for call, other in zip(calls, repeated, strict=True)
            )
        return calls

    def _is_proved_alone(self, replays: Replays) -> bool:
        """True if the call is right for other numbers, or for its own in another order, and does no more."""
        return self._is_searched() and (replays.proves_alone() or self._is_proved_by_rearranged(replays))

    def _is_proved_by_rearranged(self, replays: Replays) -> bool:
        outputs = list(self.draws.expected)
        draws = rearranged(self.further.oracle, self.case.case, outputs, self.draws)
        return draws is not None and replace(replays, draws=draws).proves_alone()

    def _proof_by_further_calls(
        self, replays: Replays, first: LoggedCall, second: LoggedCall, *, is_proved: bool
    ) -> tuple[bool, Clause | None]:
        """True if two further calls prove the result right, and otherwise what they show."""
        if not is_proved and self.draws.crossed:
            is_proved = replays.proves_by_parts(first, second)
        elif not is_proved:
            is_proved = replays.proves_by_values((first, second))
        if is_proved:
            calls = [self.graded, first, second]
            return not self._other_sent_bytes(replays, calls).makes_result(first, second), None
        if self.draws.crossed and replays.interface.pointers == "host":
            return self._proof_by_swapping(replays, first, second)
        return False, None

    def _other_sent_bytes(self, replays: Replays, calls: Sequence[LoggedCall]) -> OtherSentBytes:
        everything = np.ones(replays.sent(self.graded)[0].size, np.bool_)
        rest = replays.exchanged(calls).rest if self._is_searched() else everything
        return OtherSentBytes(replays, self.graded, self.draws, rest)

    def _replays(self) -> Replays:
        interface, built = self.further.plan.assignment.function, self.further.built
        file = self.further.submission.file
        work = self.further.oracle.work
        needed = int(work(dict(self.case.case.shape)).get("flops") or 0) if work else 0
        operations = needed or sum(array.size for array in self.draws.base.values())
        return Replays(interface, built, file, self.case.case, self.graded, self.draws, operations)

    def _host_receives_too_little(self) -> bool:
        """True if the host never got enough of the inputs in device memory to compute from them."""
        on_device = self.further.plan.assignment.function.pointers == "device"
        bytes_received = self.graded.printed + sum(map(len, self.graded.back))
        return (
            on_device
            and bytes_received <= MOST * bytes_of(self.draws.base)
            and not self._host_has_read_inputs()
        )

    def _host_has_read_inputs(self) -> bool:
        """True if numbers of the inputs have come back as they are: the host may compute a part from them."""
        content, bounds = joined(self.graded.back)
        inputs = self.draws.base.values()
        count = 0
        for values in inputs:
            _, elements = numbers_in([content], bounds, [values], values.dtype)
            count += len(np.unique(elements))
        return count > _FEW_READ * sum(values.size for values in inputs)

    def _is_searched(self) -> bool:
        """True if what is sent can be searched for the inputs without taking minutes."""
        inputs = sum(array.nbytes for array in self.draws.base.values())
        return sum(map(len, self.graded.sent)) <= max(_MOST_SEARCHED, _MOST_SEARCHED_TIMES * inputs)

    def _is_compared(self) -> bool:
        """True if what is sent is known, and can be compared, or searched if nothing is combined."""
        is_little = bool(self.draws.crossed) and sum(map(len, self.graded.sent)) <= _MOST_COMPARED
        return self.graded.is_whole and (is_little or self._is_searched())

    def _follows(self, replays: Replays, first: LoggedCall, second: LoggedCall) -> bool:
        """True if the function's result follows from what comes back: the host finishes it."""
        if not (self.draws.crossed and replays.is_of_one_form((first, second))):
            return False
        base, sent = replays.sent(self.graded)[0], replays.merged(first, second)
        all_live = np.ones(sum(map(len, self.graded.back)), np.bool_)
        recorder = swapping(self.graded.entries, sent, sent != base, all_live)
        (call,) = self.further.with_inputs(self.case, [self.draws.base], recorder)
        return call is not None and self.draws.is_exact(call.arrays)

    def _proof_by_swapping(
        self, replays: Replays, first: LoggedCall, second: LoggedCall
    ) -> tuple[bool, Clause | None]:
        """True if the host finishes what its device computes of other inputs than the host has itself.

        The clause says what shows that it uses its own for that: it is right for neither. Where enough comes
        back that the host could compute all from it, the answer is unknown.
        """
        calls = (self.graded, first, second)
        base, sent = replays.sent(self.graded)[0], replays.merged(first, second)
        positions = {name: replays.placed(name, calls) for name in self.draws.expected}
        if not all(numbers.present.all() for numbers in positions.values()):
            positions = {}  # the host may make the rest of what else there is
        live = combined(calls)
        for numbers in positions.values():
            for byte in range(numbers.dtype.itemsize):
                live[numbers.offsets + byte] = False
        if not live.any():
            return False, None
        recorder = swapping(self.graded.entries, sent, sent != base, live)
        (call,) = self.further.with_inputs(self.case, [self.draws.base], recorder)
        if call is None or call.printed or len(call.back) != len(self.graded.back):
            return False, None
        if call.effort.is_far_above(self.graded.effort):
            return False, None
        content = replays.joined_back(call)
        arrays = {n: at.among(content, call.arrays[n]) for n, at in positions.items()} or call.arrays
        if self.draws.is_exact(arrays):
            is_little = bool(live.sum() <= MOST * bytes_of(self.draws.both))
            return is_little, None if is_little else UNKNOWN_AUTHOR
        is_mixed = replays.exchanges_contents_alone(sent) and replays.has_stored_all(call)
        return False, self._sign_of_own_inputs(sent, sent != base, live) if is_mixed else None

    def _sign_of_own_inputs(self, sent: Bytes, exchanged: Mask, live: Mask) -> Clause:
        """Clause that the host uses its own inputs; unknown if it only multiplies what comes back.

        Then it hands back zeros where zeros come back.
        """
        recorder = swapping(self.graded.entries, sent, exchanged, live, blank=True)
        (call,) = self.further.with_inputs(self.case, [self.draws.base], recorder)
        if call is not None and not any(call.arrays[name].any() for name in self.draws.expected):
            return UNKNOWN_AUTHOR
        return Clause("host-uses-own-inputs")
