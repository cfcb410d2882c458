"""A call of a function, recorded: what it asks of its device on each set of inputs that it is timed with.

    function ─run where nothing is computed▶ Recording ─if it goes by results▶ run on the emulator

The host's own code is not replayed, so nothing may depend on what it computes: it may decide how often
something is repeated, and no more.

The program that calls it gets a word for each parameter, which says where arrays lie on the host; what a word
says is described in ``sandbox/headers/grader_function.hpp``, which reads it.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader.base.errors import OurError
from grader.kinds.host_runs.limits import SLOWER, THREADS, limits_of
from grader.kinds.host_runs.running import PROGRAM
from grader.kinds.host_runs.too_large import STEPS_A_SECOND
from grader.model import Clause
from grader.model.messages import clause
from grader.running.device.device import Device
from grader.running.device.launches import EmulatedLaunches
from grader.running.device.memory import PAGE, DeviceMemory, OutOfMemoryError, Owner
from grader.running.device.observation import Observation
from grader.running.device.recording import CallRecorder, RecordedLaunches
from grader.running.device.requests import Sharing
from grader.running.device.service import run_beside
from grader.toolchain.gpu.replay import differ_by_repeating
from grader.toolchain.sandbox import Job, Stage
from grader.toolchain.sandbox.channel import channel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.model import Argument, Build, FunctionInterface, Named
    from grader.toolchain.gpu.replay import Recording, Recordings
    from grader.toolchain.nvcc import Tools
    from grader.toolchain.sandbox import Result

    Arguments = tuple[Argument, ...]
    Results = Callable[[int], bytes]

_ROOM = 4 << 30
"""Bytes of the device; only what is touched takes memory."""

_SAME_BYTES = (b"\0", b"\x3f")
"""Results that are made up, byte by byte: zeros, and positive numbers of every type."""


class UnfitError(OurError):
    """Error for a call that cannot be recorded for a device to repeat it, for some ``reason``."""

    def __init__(self, reason: Clause) -> None:
        """Store the reason."""
        super().__init__(f"the function cannot be timed, because {clause(reason)}")
        self.reason = reason


def recorded(
    interface: FunctionInterface, built: Build, tools: Tools, sets: Sequence[Arguments]
) -> Recordings:
    """Requests of a call to its device: one recording if it is the same for all sets, else one for each.

    Raises UnfitError where such recordings are impossible, or where numbers among the inputs decide too much,
    and OurError where the arrays are too large.
    """
    calls = [_TimedCall(interface, built, tools, arguments) for arguments in sets]
    recordings = [call.guessed(number) for number, call in enumerate(calls)]
    if None in recordings:
        recordings = [call.computed() for call in calls]
    first, *others = (recording for recording in recordings if recording is not None)
    if all(other == first for other in others):
        return (first,)
    for other in others:
        if other.steps != first.steps and not differ_by_repeating(other.steps, first.steps):
            raise UnfitError(_what_differs(first, other))
    return first, *others


def _what_differs(first: Recording, other: Recording) -> Clause:
    if first.contents != other.contents:
        return Clause("host-computes-copies")
    return Clause("inputs-decide")


class _TimedCall:
    """One call of a function with these arguments."""

    def __init__(
        self, interface: FunctionInterface, built: Build, tools: Tools, arguments: Arguments
    ) -> None:
        self._interface, self._built, self._tools = interface, built, tools
        self._arguments = arguments
        self._work = int(interface.program.emulator_seconds * STEPS_A_SECOND)

    def guessed(self, number: int) -> Recording | None:
        """Requests with made-up results, the ``number``-th in a way of its own.

        None where the call may depend on results: where it reads them into memory of its own, does something
        else once others come back, or does not end well with them. Raises OurError as `computed` does.
        """
        same = _SAME_BYTES[number % len(_SAME_BYTES)]
        guesses: tuple[Results, ...] = (lambda size: same * size, np.random.default_rng(number).bytes)
        recorders = [self._recorded(results) for results in guesses]
        one, other = (recorder.recording() for recorder in recorders)
        return None if one != other or any(r.needs_results for r in recorders) else one

    def computed(self) -> Recording:
        """Requests of the call where the emulator computes."""
        return self._recorded(None).recording()

    def _recorded(self, results: Results | None) -> CallRecorder:
        try:
            with closing(DeviceMemory(_ROOM)) as memory:
                return self._recorded_in(memory, results)
        except OutOfMemoryError:
            raise OurError(f"its arrays take more than {_ROOM >> 30} GiB where it is timed") from None

    def _recorded_in(self, memory: DeviceMemory, results: Results | None) -> CallRecorder:
        launches = self._launches(memory, results)
        recorder = CallRecorder(memory, launches, {})
        words, files = self._given(memory, recorder)
        computing = 0.0 if results is not None else SLOWER * self._interface.program.emulator_seconds
        device = Device(memory, launches, recorders=[recorder], has_libraries=False)
        result = self._run(device, words, files, computing)
        launches.close()
        if launches.gave_up:
            seconds = f"{self._interface.program.emulator_seconds:g}"
            raise UnfitError(Clause("takes-long-to-record", (("seconds", seconds),)))
        if launches.unsupported:
            raise UnfitError(Clause("results-not-computed", (("problem", launches.unsupported),)))
        if recorder.problem:
            raise UnfitError(recorder.problem)
        problem = None if recorder.needs_results else self._problem_at_its_end(recorder, result)
        if problem and (results is None or not recorder.has_read):
            raise UnfitError(problem)
        recorder.needs_results |= problem is not None  # it may be what the function does with strange results
        return recorder

    def _launches(self, memory: DeviceMemory, results: Results | None) -> EmulatedLaunches:
        unheard = (memory, self._built, "", lambda _: None, lambda _: "")
        if results is not None:
            return RecordedLaunches(*unheard, results=results)
        return EmulatedLaunches(*unheard, observation=Observation(count_only=True), steps=self._work)

    def _given(self, memory: DeviceMemory, recorder: CallRecorder) -> tuple[tuple[str, ...], Named[bytes]]:
        """The words for the calling program, with the files that they name; the recorder learns of arrays."""
        words, files, starts = [], [], {}
        for index, argument in enumerate(self._arguments):
            if argument.direction == "value":
                words.append(value_word(argument))
                continue
            content = np.ascontiguousarray(argument.value).tobytes()
            if self._interface.pointers == "host":
                recorder.on_host.add(argument.name, start_on_host(index, len(content)), content)
                words.append(host_word(index, len(content)))
                files.append((file_of(index), content))
                continue
            allocation = memory.allocate(len(content), Sharing.DEVICE, 0, Owner.ARGUMENT)
            memory.bytes[allocation.start : allocation.end] = np.frombuffer(content, np.uint8)
            memory.written[allocation.start : allocation.end] = 1
            starts[allocation.start] = argument.name
            words.append(device_word(allocation.address))
        recorder.arguments = starts
        return tuple(words), tuple(files)

    def _run(self, device: Device, words: tuple[str, ...], files: Named[bytes], seconds: float) -> Result:
        """Call the function, in a stage of its own: nothing may be kept from one call to the next."""
        limits = limits_of(self._interface.program, on_gpu=False)
        limits = replace(limits, wall_seconds=limits.wall_seconds + seconds)
        job = Job(
            (f"./{PROGRAM}", *words),
            ((PROGRAM, self._built.program), *files),
            wanted=tuple(left_file(name) for name, _ in files),
            limits=limits,
            environment=THREADS,
        )
        with channel() as folder, self._tools.sandbox.stage(Stage(limits, channel=str(folder))) as sandbox:
            return run_beside(device, folder, sandbox, job)

    def _problem_at_its_end(self, recorder: CallRecorder, result: Result) -> Clause | None:
        """Reason why the call is of no use: it did not return, or its own code changed arrays on the host."""
        if not result.outcome.ok:
            return Clause("does-not-return")
        left = dict(result.files)
        for index, argument in enumerate(self._arguments):
            if argument.direction == "value" or self._interface.pointers != "host":
                continue
            if left.get(left_file(file_of(index))) != recorder.on_host.content_of(argument.name):
                return Clause("host-changes-array", (("array", argument.name),))
        return None


_HOST_ARRAYS, _BETWEEN = 0x6000_0000_0000, 1 << 36
"""Address of the first array in host memory, and the distance to the next."""


def value_word(argument: Argument) -> str:
    """A number, by its bits."""
    return f"number={int.from_bytes(np.asarray(argument.value).tobytes(), 'little'):x}"


def device_word(address: int) -> str:
    """An array that is in device memory already."""
    return f"device={address:x}"


def loaded_word(index: int, size: int) -> str:
    """An array that the calling program copies to device memory: the ``index``-th parameter, in bytes."""
    return f"load={file_of(index)},{size:x}"


def host_word(index: int, size: int) -> str:
    """An array in memory of the host."""
    return f"host={file_of(index)},{size:x},{_HOST_ARRAYS + index * _BETWEEN:x}"


def start_on_host(index: int, size: int) -> int:
    """Address of an array in host memory: it ends with its last page, after a page of no array."""
    return _HOST_ARRAYS + index * _BETWEEN + PAGE + -(-size // PAGE) * PAGE - size


def file_of(index: int) -> str:
    """The file that an array comes from."""
    return f"array-{index}"


def left_file(file: str) -> str:
    """The file in which the calling program leaves what came from a file."""
    return f"{file}.after"
