"""Replays of a call with other numbers: whether its kernels compute what is right for those.

    graded call, its bytes exchanged ─replayed, no host▶ what comes back ─laid into outputs▶ right or wrong

A proof is that a replay is right for inputs that the host has never seen, or has never seen together. Where
outputs lie among what comes back is known from the graded call, or from several.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.precision import BFLOAT16
from grader.base.records import frozen
from grader.kinds.attempts.other_inputs import effort_of
from grader.kinds.attempts.words import (
    RUN,
    WORD,
    LocatedNumbers,
    in_runs,
    joined,
    located,
    located_as,
    mixed,
    numbers_in,
    offsets_in,
    types_of,
)
from grader.kinds.function.calling import arguments_of
from grader.kinds.function.finishing import is_right_finished
from grader.kinds.function.recording import start_on_host
from grader.kinds.host_runs.on_emulator import EmulatedDevice
from grader.running.device.call_log import replayed
from grader.running.device.observation import Observation
from grader.running.device.requests import CopyIn, CopyOut, Pull, Push

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from grader.kinds.attempts.other_inputs import LaunchEffort
    from grader.kinds.function.calling import LoggedCall
    from grader.kinds.function.draws import Draws
    from grader.model import Argument, Build, Case, FunctionInterface
    from grader.running.device.call_log import LoggedRequest

    Bytes = NDArray[np.uint8]
    Arrays = Mapping[str, NDArray[Any]]

_WORK_TIMES, _WORK_MORE = 2, 20_000
"""Most work that launches may take in a replay: a multiple of what they took, plus a constant."""


@frozen(eq=False)
class ExchangedInputs:
    """Bytes ``sent`` with other elements of inputs, if there ``is_any``; ``rest`` masks those of no input."""

    sent: Bytes
    rest: NDArray[np.bool_]
    is_any: bool


@frozen(eq=False)
class Replayed:
    """Bytes that came ``back`` in a replay, contents ``held`` in device memory at its end, launches' work."""

    back: list[bytes]
    held: Arrays
    effort: LaunchEffort


@frozen
class Replays:
    """Replays of the calls of one function in one case."""

    interface: FunctionInterface
    built: Build
    file: str
    case: Case
    graded: LoggedCall
    draws: Draws
    operations: int
    """Operations that the result takes, if the oracle states them; else the number of its inputs."""
    _arguments: dict[int, tuple[Argument, ...]] = field(default_factory=dict)

    def proves_alone(self) -> bool:
        """True if the graded call is right for other inputs where they were sent as they are."""
        exchange = self.exchanged([self.graded])
        return exchange.is_any and self._is_right(exchange.sent, self.draws.both, [self.graded])

    def is_right_by_copies(self) -> bool:
        """True if the call is right for other inputs where no kernel runs: copies alone have moved numbers.

        Of few elements the result may be there before.
        """
        exchange = self.exchanged([self.graded])
        if not exchange.is_any or sum(values.size for values, _ in self.draws.exact.values()) < RUN:
            return False
        return self._is_right(exchange.sent, self.draws.both, [self.graded], idle=True)

    def proves_by_values(self, calls: Sequence[LoggedCall]) -> bool:
        """The same where numbers were sent in other types, or among others, as further calls show."""
        calls = [self.graded, *calls]
        exchange = self.exchanged(calls)
        return exchange.is_any and self._is_right(exchange.sent, self.draws.both, calls)

    def proves_by_parts(self, first: LoggedCall, second: LoggedCall) -> bool:
        """True if it is right for both parts, where the host sends for each what it makes of that alone."""
        return self._is_right(self.merged(first, second), self.draws.both, [self.graded, first, second])

    def is_of_one_form(self, calls: Sequence[LoggedCall]) -> bool:
        """True if calls make the same requests as the graded one, except for the numbers."""
        return all(call.forms == self.graded.forms for call in calls)

    def sent(self, call: LoggedCall) -> tuple[Bytes, list[tuple[int, int]]]:
        """All that a call sends, and where each request's begins and ends."""
        return joined([content.tobytes() for content in call.sent])

    def joined_back(self, call: LoggedCall) -> Bytes:
        """All that came back in a call."""
        return joined(call.back)[0]

    def merged(self, first: LoggedCall, second: LoggedCall) -> Bytes:
        """Bytes sent in the graded call, with those that change in one other call alone as they are there."""
        (base, bounds), (of_first, _), (of_second, _) = map(self.sent, (self.graded, first, second))
        both = mixed(base, of_first, of_second, bounds)
        changed = np.where(of_first != base, of_first, of_second)
        return np.where(both, base, changed)

    def exchanges_contents_alone(self, sent: Bytes) -> bool:
        """True if these bytes differ from those of the graded call in contents of copies alone."""
        base, bounds = self.sent(self.graded)
        others = (b for b, e in zip(bounds, self.graded.entries, strict=True) if not _is_content(e))
        return all(np.array_equal(sent[start:end], base[start:end]) for start, end in others)

    def has_stored_all(self, call: LoggedCall) -> bool:
        """True if a call has changed each output: it has not given up before."""
        before = {a.name: np.asarray(a.value) for a in self.arguments(call.inputs)}
        return all(before[n].tobytes() != call.arrays[n].tobytes() for n in self.draws.expected)

    def entries(self, sent: Bytes, relayed: LocatedNumbers, back: Sequence[bytes]) -> Iterator[LoggedRequest]:
        """The requests of the graded call with other bytes in the place of those that it sends.

        What the host has only ``relayed``, word by word, is taken from what has come ``back`` until then.
        """
        sent = sent.copy()
        _, bounds = self.sent(self.graded)
        at = offsets_in(bounds, WORD)
        for entry, (start, end) in zip(self.graded.entries, bounds, strict=True):
            own = slice(*np.searchsorted(at, (start, end)))
            words = own.start + np.flatnonzero(relayed.present[own])
            if words.size:
                came = np.frombuffer(b"".join(back), np.uint8)
                words = words[relayed.offsets[words] + WORD <= len(came)]
                span = np.arange(WORD)
                sent[at[words][:, None] + span] = came[relayed.offsets[words][:, None] + span]
            yield entry.sending(sent[start:end]) if end > start else entry

    def offsets_sent(self) -> NDArray[np.int64]:
        """Offsets of the words that `relayed` reports on."""
        return offsets_in(self.sent(self.graded)[1], WORD)

    def _came_before(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of bytes that had come back when the words at these offsets were sent."""
        _, bounds = self.sent(self.graded)
        came = np.cumsum([0, *(len(e.content) if e.goes_out else 0 for e in self.graded.entries)])
        ends = np.array([end for _, end in bounds])
        counts: NDArray[np.int64] = came[np.searchsorted(ends, offsets, side="right")]
        return counts

    def relayed(self, calls: Sequence[LoggedCall]) -> LocatedNumbers:
        """Positions, among what comes back in all of these calls, of the words that depend on all inputs."""
        contents, bounds = [self.sent(call)[0] for call in calls], self.sent(calls[0])[1]
        at = offsets_in(bounds, WORD)
        offsets = np.full(len(at), -1, np.int64)
        if self.draws.crossed and len(calls) > 1:
            base, first, second = contents
            both = mixed(base, first, second, bounds)[at]
            words = [c[at[both][:, None] + np.arange(WORD)].view(np.uint32).reshape(-1) for c in contents]
            backs = [joined(call.back) for call in calls]
            numbers = located_as(words, [content for content, _ in backs], backs[0][1], np.dtype(np.uint32))
            offsets[both] = np.where(
                numbers.offsets + WORD <= self._came_before(at[both]), numbers.offsets, -1
            )
        return LocatedNumbers(offsets, np.dtype(np.uint32))

    def _is_right(
        self, sent: Bytes, inputs: Arrays, calls: Sequence[LoggedCall], *, idle: bool = False
    ) -> bool:
        """True if the outputs of a replay are right for both parts; ``calls`` give their positions.

        One whose launches do far more than those of the graded call proves nothing about that call.
        """
        replay = self.replayed(sent, inputs, calls, idle=idle)
        if replay is None or replay.effort.is_far_above(self.graded.effort):
            return False
        if self.interface.pointers == "device":
            return self.draws.is_exact(replay.held)
        if len(replay.back) != len(self.graded.back):
            return False
        content, _ = joined(replay.back)
        arrays = {}
        for name in self.draws.expected:
            numbers = self.placed(name, calls)
            if not self.draws.crossed and not self.is_in_order(numbers):
                return False
            arrays[name] = numbers.among(content, self.graded.arrays[name])
        return self.draws.is_exact(arrays) or is_right_finished(self.draws, content, calls, self.operations)

    def replayed(
        self, sent: Bytes, inputs: Arrays, calls: Sequence[LoggedCall], *, idle: bool = False
    ) -> Replayed | None:
        """The graded call with other bytes sent; None where something does not end well.

        ``calls`` show which of these bytes the host has only relayed. Where it is ``idle``, no kernel runs.
        """
        relayed = self.relayed(calls)
        work = _WORK_TIMES * self.graded.work + _WORK_MORE
        size, observation = self.interface.program.device_bytes, Observation(count_only=True, idle=idle)
        with closing(EmulatedDevice(self.built, self.file, "", size, work, observation)) as device:
            device.device.has_libraries = False
            arrays = self._arrays_on_device(inputs)
            for argument in arrays:
                device.hold(argument, undefined=argument.direction == "out")
            back: list[bytes] = []
            ended = replayed(device.device, self.entries(sent, relayed, back), back)
            effort = effort_of([launched.run.counters for launched in device.runs])
            return Replayed(back, {a.name: device.held(a) for a in arrays}, effort) if ended else None

    def addresses_on_device(self) -> list[int]:
        """Addresses of the arrays in device memory that the function is given."""
        arrays, size = self._arrays_on_device(self.graded.inputs), self.interface.program.device_bytes
        if not arrays:  # no device is made for nothing
            return []
        with closing(EmulatedDevice(self.built, self.file, "", size, work=0)) as device:
            return [device.hold(argument, undefined=False) for argument in arrays]

    def _arrays_on_device(self, inputs: Arrays) -> list[Argument]:
        on_device = self.interface.pointers == "device"
        return [a for a in self.arguments(inputs) if on_device and a.direction != "value"]

    def arguments(self, inputs: Arrays) -> tuple[Argument, ...]:
        """Arguments of the function with these inputs."""
        key = id(inputs)
        if key not in self._arguments:
            self._arguments[key] = arguments_of(self.interface, self.case, inputs)
        return self._arguments[key]

    # --- where inputs and outputs lie ----------------------------------------------------------------

    def exchanged(self, calls: Sequence[LoggedCall]) -> ExchangedInputs:
        """Sent bytes, with the elements of inputs exchanged for those of ``both``.

        Elements count that came from an array's own place, or that follow one another as they do there.
        """
        sent, bounds = self.sent(self.graded)
        sent = sent.copy()
        free, anything = np.ones(len(sent), np.bool_), self.interface.pointers == "device"
        contents = [self.sent(call)[0] for call in calls]
        copies = [b for b, e in zip(bounds, self.graded.entries, strict=True) if _is_content(e)]
        addresses = _addresses(self.graded.entries, [end - start for start, end in bounds])
        for argument, other in zip(
            self._inputs(self.graded.inputs), self._inputs(self.draws.both), strict=True
        ):
            values = [_array(self._inputs(call.inputs), argument.name) for call in calls]
            for dtype in types_of(values[0].dtype) if len(calls) > 1 else (values[0].dtype,):
                offsets, elements = numbers_in(contents, copies, values, dtype)
                kept = in_runs(elements, min(RUN, values[0].size)) & free[offsets]
                offsets, elements = offsets[kept], elements[kept]
                if not (self.draws.crossed or _are_neighbours(addresses[offsets], elements, dtype)):
                    continue
                at = offsets[:, None] + np.arange(dtype.itemsize)
                raw = _array([other], argument.name).reshape(-1)[elements]
                converted = raw if raw.dtype == dtype else raw.astype(dtype)
                sent[at] = converted.view(np.uint8).reshape(-1, dtype.itemsize)
                free[at] = False
                anything = anything or bool(len(offsets))
        return ExchangedInputs(sent, free, anything)

    def _inputs(self, inputs: Arrays) -> list[Argument]:
        return [a for a in self.arguments(inputs) if a.direction in ("in", "inout")]

    def placed(self, name: str, calls: Sequence[LoggedCall]) -> LocatedNumbers:
        """Positions of the elements of an output among what comes back, in all of these calls."""
        contents = [joined(call.back)[0] for call in calls]
        _, bounds = joined(self.graded.back)
        at = self._by_address(name, contents[0], bounds)
        if at is not None:
            return at
        return located([call.arrays[name] for call in calls], contents, bounds)

    def is_in_order(self, of_output: LocatedNumbers) -> bool:
        """True if most elements of an output lie one behind the other: in what comes back, and before."""
        out = [entry for entry in self.graded.entries if entry.goes_out]
        addresses = _addresses(out, [len(entry.content) for entry in out])
        present = of_output.present
        elements, offsets = np.flatnonzero(present), of_output.offsets[present]
        return of_output.is_in_order and _are_neighbours(addresses[offsets], elements, of_output.dtype)

    def _by_address(
        self, name: str, content: Bytes, bounds: Sequence[tuple[int, int]]
    ) -> LocatedNumbers | None:
        """The same where copies alone have put all of it into the output itself."""
        index = next(i for i, a in enumerate(self.arguments(self.draws.base)) if a.name == name)
        array = np.ascontiguousarray(self.graded.arrays[name])
        start, size, width = start_on_host(index, array.nbytes), array.nbytes, array.dtype.itemsize
        origin = np.full(size, -1, np.int64)
        outgoing = [entry.request for entry in self.graded.entries if entry.goes_out]
        for message, (begin, _) in zip(outgoing, bounds, strict=True):
            if not isinstance(message, CopyOut):
                continue
            for row in range(message.height):
                to = message.to + row * message.to_pitch - start
                if 0 <= to <= size - message.width:
                    origin[to : to + message.width] = begin + row * message.width + np.arange(message.width)
        flat = array.reshape(-1).view(np.uint8)
        if (origin < 0).any() or not np.array_equal(content[origin], flat):
            return None
        of_elements = origin.reshape(-1, width)
        if not (of_elements == of_elements[:, :1] + np.arange(width)).all():
            return None
        return LocatedNumbers(of_elements[:, 0], array.dtype)


def _is_content(entry: LoggedRequest) -> bool:
    return isinstance(entry.request, CopyIn | Push)


def _addresses(entries: Sequence[LoggedRequest], sizes: Sequence[int]) -> NDArray[np.int64]:
    """The place in device memory of each byte that moves with these requests; -1 where it has none."""
    parts = [np.empty(0, np.int64)]
    for entry, size in zip(entries, sizes, strict=True):
        message = entry.request
        if isinstance(message, CopyIn | CopyOut):
            into = isinstance(message, CopyIn)
            start, pitch = (message.to, message.to_pitch) if into else (message.source, message.source_pitch)
            rows = start + pitch * np.arange(message.height, dtype=np.int64)
            parts.append((rows[:, None] + np.arange(message.width)).reshape(-1))
        elif isinstance(message, Push | Pull):
            parts.append(np.arange(message.address, message.address + size, dtype=np.int64))
        else:
            parts.append(np.full(size, -1, np.int64))
    return np.concatenate(parts)


def _are_neighbours(addresses: NDArray[np.int64], elements: NDArray[np.int64], dtype: np.dtype[Any]) -> bool:
    """True if most elements that follow one another lie so in device memory, or come to one place in turn.

    Where copies set each of them somewhere else, they do what is asked of a kernel.
    """
    steps = np.diff(addresses)[np.diff(elements) == 1]
    return 2 * int(np.count_nonzero((steps == dtype.itemsize) | (steps == 0))) >= len(steps)


def _array(arguments: Sequence[Argument], name: str) -> NDArray[Any]:
    value = np.asarray(next(a.value for a in arguments if a.name == name))
    return value.view(np.uint16) if value.dtype == BFLOAT16 else value
