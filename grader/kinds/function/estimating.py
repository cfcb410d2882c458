"""The estimated time of a function: what it asks of its device at the timed shape, launch by launch.

    function ─recorded, as for timing▶ Recording ─each launch simulated, copies and fills by their bytes▶ sum

What timing counts counts here: launches, copies and fills, one after the other, and nothing that the host
does. Launches write nothing here, so each finds in memory what copies and fills have put there, and zeros.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.grading.assignment import reference_folder
from grader.grading.oracle import array_types, load_oracle
from grader.kinds.estimate_request import Estimated, code_of
from grader.kinds.estimate_results import LeftArray, compared_elements, outputs_of
from grader.kinds.function.recording import UnfitError, recorded
from grader.kinds.function.timing import input_sets
from grader.model import Argument
from grader.running.estimate import NotEstimatedError, device_of, elements_at, estimate_kernel
from grader.running.estimate.calls import combined, device_pass, host_copy
from grader.simulation.emulator.linking.program import initial_bytes
from grader.simulation.ptx import parse
from grader.simulation.ptx.parser import symbol_name
from grader.toolchain.gpu.replay import HOST, CopyStep, FillStep, LaunchStep
from grader.toolchain.nvcc import build_program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from grader.kinds.estimate_request import EstimateRequest
    from grader.model import Assignment, Build, KernelEstimate, Submission
    from grader.running.estimate.devices import GpuModel
    from grader.running.estimate.estimate import EstimatedKernel
    from grader.running.estimate.further_blocks import BlocksRun
    from grader.toolchain.gpu.replay import ArrayLocation, Recording
    from grader.toolchain.nvcc import MachineCode, Tools

MOST_LAUNCHES = 16
"""Launches that differ: each of them is simulated."""

SECONDS, EMULATOR_SECONDS = 5.0, 1.0
"""Most seconds for a call that is recorded, and for the launches computed for it: a person waits."""

_ADDRESS_BYTES = 8


def build_of(assignment: Assignment, submission: Submission, tools: Tools) -> Build:
    """The build for the emulator, which asks a device of ours."""
    return build_program(tools, submission, assignment.function)


def estimated(
    request: EstimateRequest,
    built: Build,
    code: Future[MachineCode] | None = None,
    *,
    compares: bool = False,
) -> Estimated:
    """The time of one call; raises NotEstimatedError.

    Where it ``compares``, also for a call with a single launch whose results are wrong.
    """
    recording, arguments = _recorded(request, built)
    counts = Counter(step for step in recording.steps if isinstance(step, LaunchStep))
    if len(counts) > MOST_LAUNCHES:
        raise NotEstimatedError("too-many-launches", (("most", str(MOST_LAUNCHES)),))
    device, compiled = device_of(request.device), code_of(request, built, code)
    on_host = request.assignment.function.pointers == "host"
    memory = _Memory.of(built, recording, arguments, on_host=on_host)
    launches: dict[LaunchStep, KernelEstimate] = {}
    moves: list[KernelEstimate] = []
    longest: EstimatedKernel | None = None
    before: _Memory | None = None
    times = 0
    for step in recording.steps:
        if not isinstance(step, LaunchStep):
            memory.move(step)
            moves.append(_time_of(step, memory, device))
        elif step not in launches:
            before = memory.copy() if compares and counts.total() == 1 else None
            kernel = _simulated(step, compiled, built, memory, device)
            launches[step] = kernel.estimate
            most = times * longest.estimate.milliseconds if longest else 0.0
            if counts[step] * kernel.estimate.milliseconds > most:
                longest, times = kernel, counts[step]
    if longest is None:
        raise NotEstimatedError("not-launched")
    total = combined([(counts[step], launch) for step, launch in launches.items()] + [(1, m) for m in moves])
    others_us = 1000 * total.milliseconds / times - longest.time.microseconds
    compared = _compared(request, recording, longest, before, arguments) if before else 0
    return Estimated(total, longest, times, max(0.0, others_us), compared)


def _compared(
    request: EstimateRequest,
    recording: Recording,
    kernel: EstimatedKernel,
    before: _Memory,
    arguments: tuple[Argument, ...],
) -> int:
    """Number of right elements of the results after the only launch and the rest of the function."""
    oracle = load_oracle(reference_folder(request.assignment), array_types(request.assignment.function))
    at = next(number for number, step in enumerate(recording.steps) if isinstance(step, LaunchStep))
    later = [step for step in recording.steps[at + 1 :] if not isinstance(step, LaunchStep)]
    launch, outputs = kernel.sampled.launch, outputs_of(arguments)

    def left_by(ran: Sequence[BlocksRun]) -> list[LeftArray]:
        after = before.copy()
        marks = replace(after, arrays={name: np.zeros_like(array) for name, array in after.arrays.items()})
        for name, array in after.arrays.items():
            if name in launch.starts:
                start = launch.starts[name]
                stored = elements_at(ran, start, 1, array.size)
                array[stored], marks.arrays[name][stored] = launch.memory[start + stored], 1
        for step in later:
            after.move(step)
            marks.move(replace(step, byte=0) if isinstance(step, FillStep) else step)
        return [_left(output, after.arrays[output.name], marks.arrays[output.name]) for output in outputs]

    return compared_elements(request, kernel, arguments, oracle, left_by)


def _left(output: Argument, after: NDArray[np.uint8], marks: NDArray[np.uint8]) -> LeftArray:
    before = np.asarray(output.value).reshape(-1)
    stored = np.flatnonzero(marks.reshape(before.size, -1).any(axis=1))
    return LeftArray(output.name, before, after.view(before.dtype), stored)


def _recorded(request: EstimateRequest, built: Build) -> tuple[Recording, tuple[Argument, ...]]:
    """Requests of a call with the first set of inputs, and that set.

    All sets are recorded, as for timing: nothing that the host computes may reach the device.
    """
    assignment, interface = request.assignment, request.assignment.function
    oracle = load_oracle(reference_folder(assignment), array_types(interface))
    sets = input_sets(assignment, oracle, request.timing, request.seed)
    program = replace(
        interface.program,
        seconds=min(SECONDS, interface.program.seconds),
        emulator_seconds=min(EMULATOR_SECONDS, interface.program.emulator_seconds),
    )
    try:
        recordings = recorded(replace(interface, program=program), built, request.tools, sets)
    except UnfitError as problem:
        raise NotEstimatedError("not-recorded", (("reason", (problem.reason,)),)) from problem
    return recordings[0], sets[0]


def _simulated(
    step: LaunchStep, code: MachineCode, built: Build, memory: _Memory, device: GpuModel
) -> EstimatedKernel:
    """A launch, simulated as a kernel's; one that strays may lack what earlier ones would have written."""
    kernel = replace(built, entry=step.entry)
    try:
        return estimate_kernel(code, kernel, step.launch, memory.arguments(step), device)
    except NotEstimatedError as problem:
        if problem.problem != "wrong":
            raise
        raise NotEstimatedError("stray-launch") from problem


def _time_of(step: CopyStep | FillStep, memory: _Memory, device: GpuModel) -> KernelEstimate:
    if isinstance(step, FillStep):
        return device_pass(step.size, device)
    if {step.to.array, step.source.array} & memory.on_host:
        return host_copy(step.size, device)
    return device_pass(2 * step.size, device)  # read, and written


@frozen
class _Memory:
    """The arrays that a recording names, as bytes: those ``on_host``, and all others on the device.

    ``variables`` are those of the file that it names.
    """

    arrays: dict[str, NDArray[np.uint8]]
    on_host: frozenset[str]
    variables: frozenset[str]

    @classmethod
    def of(
        cls, built: Build, recording: Recording, arguments: tuple[Argument, ...], *, on_host: bool
    ) -> _Memory:
        """The arrays before the first step; what the function allocates is full of zeros."""
        inputs = {a.name: _as_bytes(a.value) for a in arguments if a.direction != "value"}
        from_host = {name: np.frombuffer(content, np.uint8) for name, content in recording.contents}
        from_host[HOST] = np.zeros(recording.host_bytes, np.uint8)
        scratch = {name: np.zeros(size, np.uint8) for name, size in recording.scratch}
        module = parse(built.ptx)
        variables = {
            variable.name: initial_bytes(variable, {}, module)
            for variable in module.variables
            if variable.name in recording.variables
        }
        hosts = frozenset(from_host) | (frozenset(inputs) if on_host else frozenset())
        return cls(inputs | from_host | scratch | variables, hosts, frozenset(variables))

    def copy(self) -> _Memory:
        """The same arrays, so that neither changes with the other."""
        return replace(self, arrays={name: array.copy() for name, array in self.arrays.items()})

    def move(self, step: CopyStep | FillStep) -> None:
        """Do a copy or a fill."""
        target = self._bytes(step.to, step.size)
        target[:] = step.byte if isinstance(step, FillStep) else self._bytes(step.source, step.size)

    def _bytes(self, location: ArrayLocation, size: int) -> NDArray[np.uint8]:
        return self.arrays[location.array][location.offset : location.offset + size]

    def arguments(self, step: LaunchStep) -> tuple[Argument, ...]:
        """A launch's parameters, and the arrays that they point to, as they are now."""
        locations = [location for _, pointers in step.parameters for _, location in pointers]
        names = dict.fromkeys((*(location.array for location in locations), *sorted(self.variables)))
        return (
            *(_parameter(number, *one) for number, one in enumerate(step.parameters, start=1)),
            *(self._array(name) for name in names),
        )

    def _array(self, name: str) -> Argument:
        symbol = symbol_name(name) if name in self.variables else ""
        return Argument(name, "inout", self.arrays[name], is_parameter=False, symbol=symbol)


def _as_bytes(value: Any) -> NDArray[np.uint8]:  # noqa: ANN401 - an array of any type
    return np.frombuffer(np.ascontiguousarray(value).tobytes(), np.uint8).copy()


def _parameter(number: int, content: bytes, pointers: tuple[tuple[int, ArrayLocation], ...]) -> Argument:
    """A parameter by its bytes; where it points to an array they hold how far behind its start."""
    changed = bytearray(content)
    for at, location in pointers:
        changed[at : at + _ADDRESS_BYTES] = location.offset.to_bytes(_ADDRESS_BYTES, "little")
    value = np.frombuffer(bytes(changed), f"V{len(changed)}")[0]
    named = tuple((location.array, at) for at, location in pointers)
    return Argument(f"parameter {number}", "value", value, pointers=named)
