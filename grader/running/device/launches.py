"""Launches of a whole program on the emulator, of kernels that the grader compiled.

Each launch runs twice, as for a kernel that is handed in alone: the build for hazards first, on a copy of
device memory, and then the one that counts, whose arrays are kept.
"""

from __future__ import annotations

import math
import struct
import time
from dataclasses import field, replace
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.base.errors import PtxSyntaxError, UnsupportedPtx
from grader.base.precision import BFLOAT16
from grader.base.records import mutable
from grader.model import Argument, FindingCode, Launch
from grader.running.backends.emulated_kernel import EmulatedKernel
from grader.running.device.device import LaunchOutcome, LoadedKernel
from grader.running.device.element_sizes import PointedArray, filled_in_bytes, sizes_in_elements
from grader.running.device.errors import CudaError, HostCode, HostMistake, code_of
from grader.running.device.limits import launch_of, refused, shape
from grader.running.device.memory import MemoryCopy, Owner
from grader.running.device.observation import EndedLaunch, KernelRun, MemoryImage, Observation, loaded
from grader.running.device.requests import Sharing
from grader.running.device.streams import DEFAULT, LEGACY, Use, marked
from grader.running.device.watched_launches import LaunchLog, RecordedLaunch, WatchedLaunch, numbers_in
from grader.running.device.work_left import WorkLeft
from grader.simulation.emulator.launch import STEPS
from grader.simulation.emulator.linking.program import function_addresses, initial_bytes
from grader.simulation.emulator.memory.layout import takes_memory
from grader.simulation.emulator.memory.memory import Allocation
from grader.simulation.emulator.profile import TouchedBytes
from grader.simulation.emulator.races.rows import synchronises_through_memory
from grader.simulation.emulator.spin_waits import may_wait_for_memory
from grader.simulation.ptx import Register, parse
from grader.simulation.ptx.facts import reachable_functions
from grader.simulation.ptx.parser import symbol_name
from grader.toolchain.nvcc.signature import read_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.model import Build, Clause, Named, Run
    from grader.running.device.memory import DeviceAllocation, DeviceMemory
    from grader.running.device.requests import LaunchKernel
    from grader.running.device.streams import Spans
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.emulator.memory.memory import Heap
    from grader.simulation.ptx import Function, Module, Variable

_POINTER_BYTES = 8

_COOPERATIVE, _WORKSPACE_BYTES = "%envreg2", 8
"""Register that a kernel reads for the workspace of a cooperative launch: its size, and a barrier."""

_WAITS_FOR_OTHERS = (
    "not supported here: a kernel that waits for what the host or another stream does while it runs"
)


class _Pointer(NamedTuple):
    """A pointer that a kernel is given, and the type that it points to if that is a number."""

    address: int
    dtype: np.dtype[Any] | None


@mutable
class EmulatedLaunches:
    """The kernels of a program; ``name_of`` gives the program's name of an allocation.

    ``symbol_mistake`` is `Device.symbol_mistake`.
    """

    memory: DeviceMemory
    build: Build
    file: str
    note: Callable[[HostMistake], None]
    name_of: Callable[[DeviceAllocation], str]
    symbol_mistake: Callable[[int, int], HostMistake | None] = lambda *_: None
    time_is_up: Callable[[], bool] = lambda: False
    """True once no process waits for launches any more: the one that runs then is given up."""
    runs: list[KernelRun] = field(default_factory=list)
    observation: Observation = field(default_factory=Observation)
    watched: dict[str, WatchedLaunch] = field(default_factory=dict)
    """The last launches of the kernels that are watched, by the kernels' names."""
    log: LaunchLog | None = field(init=False)
    """Log of what launches and the host do to device memory, if a kernel is watched."""
    steps: int = STEPS
    """Work that all launches together may take."""
    seconds: float = 0.0
    """Wall time that launches took: not the program's doing."""
    gave_up: Clause | None = None
    """Reason why launches are not run any more: they take more work than they may."""
    out_of_time: bool = False
    """True if the reason is that no process waits for them."""
    unsupported: str = ""
    """Feature that the emulator does not interpret in a kernel that was launched."""
    kernels: tuple[LoadedKernel, ...] = field(init=False)
    variables: dict[tuple[int, str], DeviceAllocation] = field(default_factory=dict)
    elements: dict[int, int] = field(default_factory=dict)
    """Bytes of an element of each allocation that a kernel was given, by its number."""
    work_left: WorkLeft = field(default_factory=WorkLeft)
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """The extents of arrays that are known to have several, by where they start."""
    _files: Named[Build] = ()
    """The files with device code, each a module, by their numbers."""
    _modules: tuple[Module, ...] = ()
    _for_hazards: tuple[Module, ...] = ()
    """The modules of the build that hazards are looked for in: it keeps functions and constants that the
    default build has optimised away."""
    _emulated: dict[tuple[int, str], EmulatedKernel] = field(default_factory=dict)
    _image: MemoryImage = field(init=False)
    """Memory as the launch finds it that runs now."""
    _copy: MemoryCopy = field(default_factory=MemoryCopy)
    _heaps: list[Heap] = field(default_factory=list)
    """The heap of each attempt at a launch."""
    _directions: dict[int, str] = field(default_factory=dict)
    _variable_names: dict[int, str] = field(default_factory=dict)
    """The names of variables by where they start."""
    _touched: TouchedBytes | None = None
    """Bytes that the launch that runs now uses, if they were asked for."""
    _shared_by_grid: DeviceAllocation | None = None
    """Workspace that the blocks of a cooperative launch share."""

    def __post_init__(self) -> None:
        self.log = LaunchLog(self.memory) if self.observation.watched else None
        files = ((self.file, self.build), *self.build.others)
        self._files = tuple((name, build) for name, build in files if build.ptx)
        self._modules = tuple(parse(build.ptx) for _, build in self._files)
        self._for_hazards = tuple(parse(build.hazard_ptx) for _, build in self._files)
        self.kernels = tuple(
            loaded(number, module, function)
            for number, module in enumerate(self._modules)
            for function in module.functions
            if function.is_entry
        )
        for number in range(len(self._modules)):
            for variable in self._variables_of(number):
                if variable.space in ("global", "const"):
                    sharing = Sharing.MANAGED if variable.managed else Sharing.DEVICE
                    allocation = self.memory.allocate(variable.size, sharing, 0, Owner.VARIABLE)
                    self.variables[number, variable.name] = allocation
                    self._variable_names[allocation.start] = symbol_name(variable.name)
                    self._directions[allocation.start] = "const" if variable.space == "const" else "inout"
        if any(_COOPERATIVE in build.ptx for _, build in self._files):
            self._shared_by_grid = self.memory.allocate(_WORKSPACE_BYTES, Sharing.DEVICE, 0, Owner.VARIABLE)
            self._variable_names[self._shared_by_grid.start] = "cooperative_groups::this_grid()"
        self.reset()

    def reset(self) -> None:
        """Put variables back to what they hold at the start."""
        for number, module in enumerate(self._modules):
            addresses = self._addresses(number)
            for variable in self._variables_of(number):
                allocation = self.variables.get((number, variable.name))
                if allocation is not None:
                    content = initial_bytes(variable, addresses, module) if variable.initial else 0
                    self.memory.bytes[allocation.start : allocation.end] = content
                    self.memory.written[allocation.start : allocation.end] = 1

    def close(self) -> None:
        """Give the memory back in which launches ran."""
        self._copy = MemoryCopy()

    def _variables_of(self, number: int) -> tuple[Variable, ...]:
        """Variables of a file, with the variables of the default build first."""
        variables = {variable.name: variable for variable in self._modules[number].variables}
        for variable in self._for_hazards[number].variables:
            variables.setdefault(variable.name, variable)
        return tuple(variables.values())

    def _addresses(self, number: int) -> dict[str, int]:
        variables = {name: a.address for (file, name), a in self.variables.items() if file == number}
        return variables | function_addresses(self._modules[number], self._for_hazards[number])

    def launch(
        self, request: LaunchKernel, caller: int, shared_limit: int, *, watch: bool = False
    ) -> LaunchOutcome:
        """Run a kernel; a launch that a device refuses is noted, and never runs."""
        kernel, launch = self.kernels[request.kernel], launch_of(request)
        without_running = self._not_run(kernel, launch, request, caller, shared_limit)
        if without_running is not None:
            return without_running
        arguments = self._arguments(kernel, request.parameters, caller)
        before = self._watched_bytes(kernel, arguments)
        self._make_ready(kernel, arguments, request, watch=watch)
        run = self._run(kernel, launch, arguments)
        if run is not None and self._may_be_released(kernel, run, request):
            self.unsupported = _WAITS_FOR_OTHERS
        if run is None or self.unsupported:
            return LaunchOutcome(CudaError.SUCCESS, later=CudaError.LAUNCH_FAILURE)
        self.steps -= run.work
        self.gave_up, self.out_of_time = run.too_much_work, bool(run.too_much_work) and self.time_is_up()
        without_arrays = replace(run, outputs=(), unoptimised=(), heap=())  # of thousands of launches
        self.runs.append(KernelRun(kernel.name, caller, launch, without_arrays))
        trial = self._kernel(kernel).last_trial
        if trial is not None:
            self.observation.after(EndedLaunch(self.runs[-1], trial, self._image))
        name = read_name(kernel.name).name
        if not request.cooperative and self._waits_for_its_grid(kernel, run):
            details = (("kernel", name),)
            self.note(HostMistake(HostCode.NOT_COOPERATIVE, caller, details=details))
        self.work_left.launched(self._modules[kernel.module], kernel.name, name, caller, launch)
        changed = self._keep(run)
        self._note_sizes(kernel, launch, arguments, run)
        if self.log is not None and run.completed:
            self._record(self.log, kernel, arguments, before)
        counters = run.counters
        return LaunchOutcome(
            CudaError.SUCCESS,
            later=code_of(run),
            dram_bytes=32 * (counters.global_load_sectors + counters.global_store_sectors),
            lane_instructions=counters.instructions,
            printed=run.printed.encode(),
            changed=changed,
            uses=self._uses(kernel.module),
        )

    def _may_be_released(self, kernel: LoadedKernel, run: Run, request: LaunchKernel) -> bool:
        """True if a launch that never ends by itself may wait for the host, or for another stream."""
        if not any(finding.code is FindingCode.NEVER_ENDS for finding in run.findings):
            return False
        runs_beside_others = self.memory.is_shared or request.stream not in (DEFAULT, LEGACY)
        functions = reachable_functions(self._modules[kernel.module], kernel.name)
        return runs_beside_others and may_wait_for_memory(functions)

    def _waits_for_its_grid(self, kernel: LoadedKernel, run: Run) -> bool:
        """True if a launch ended in a trap, and its kernel uses what only cooperative launches have."""
        if not any(finding.code is FindingCode.TRAP for finding in run.findings):
            return False
        functions = reachable_functions(self._modules[kernel.module], kernel.name)
        operands = (operand for function in functions for ins in function.body for operand in ins.operands)
        return Register(_COOPERATIVE) in operands

    def _note_sizes(
        self, kernel: LoadedKernel, launch: Launch, arguments: tuple[Argument, ...], run: Run
    ) -> None:
        """Note the sizes of the launch's arrays that count elements, and how long an element of each is."""
        arrays = list(self._arrays_of_numbers(kernel, arguments))
        for array in arrays:
            self.elements[array.allocation.number] = array.element
            held = self.memory.bytes[array.allocation.start : array.allocation.end]
            fill = filled_in_bytes(array, self.memory.filled, held)
            if fill is not None:
                self.note(fill)
        if not run.findings:
            return
        name = read_name(kernel.name).name
        numbers = numbers_in(np.asarray(argument.value).tobytes() for argument in arguments)
        for mistake in sizes_in_elements(name, launch, numbers, arrays, run, self.memory.sent):
            self.note(mistake)

    def _arrays_of_numbers(
        self, kernel: LoadedKernel, arguments: tuple[Argument, ...]
    ) -> Iterator[PointedArray]:
        """The program's allocations to whose start the arguments of a launch point, as numbers."""
        for pointer in self._pointers(kernel, arguments):
            allocation = None if pointer is None else self.memory.starting_at(pointer.address)
            if pointer is None or pointer.dtype is None or allocation is None:
                continue
            if allocation.owner is Owner.PROGRAM:
                yield PointedArray(allocation, self.name_of(allocation), pointer.dtype)

    def _record(
        self,
        log: LaunchLog,
        kernel: LoadedKernel,
        arguments: tuple[Argument, ...],
        before: dict[int, bytes] | None,
    ) -> None:
        """Record the last launch, which ended; ``before`` is the memory at the start of a watched one."""
        began = time.monotonic()
        ran, (file, build) = self.runs[-1], self._files[kernel.module]
        name = read_name(kernel.name).name
        recorded = RecordedLaunch(
            name,
            replace(build, entry=kernel.name),
            file,
            ran.launch,
            arguments,
            ran.run.work,
            ran.run.counters,
            self._image,
            log.differences(),
        )
        recording, position = log.launched(recorded)
        if before is not None:
            after = self._watched_bytes(kernel, arguments) or {}
            self.watched[name] = WatchedLaunch({p: (before[p], after[p]) for p in after}, recording, position)
        self.seconds += time.monotonic() - began

    def _make_ready(
        self, kernel: LoadedKernel, arguments: tuple[Argument, ...], request: LaunchKernel, *, watch: bool
    ) -> None:
        """Take down what the launch finds in memory, and forget the launch before."""
        workspace = self._cleared_workspace() if request.cooperative else 0
        self._image = replace(self._image_of(kernel, arguments), workspace=workspace)
        if self.log is not None:
            began = time.monotonic()
            self.log.host_wrote()
            self.seconds += time.monotonic() - began
        self._copy.begin()
        self._heaps.clear()
        is_watched = watch or self.observation.marks_stores
        self._touched = TouchedBytes(self.memory.end) if is_watched else None

    def _run(self, kernel: LoadedKernel, launch: Launch, arguments: tuple[Argument, ...]) -> Run | None:
        """Launch a kernel on a copy of device memory; None where the emulator does not interpret it."""
        began = time.monotonic()
        try:
            return self._kernel(kernel).launch(
                launch,
                arguments,
                count_only=self.observation.count_only,
                profile=self.observation.profile,
                steps=max(1, self.steps),
                all_outputs=False,
            )
        except (UnsupportedPtx, PtxSyntaxError) as problem:
            self.unsupported = str(problem)
            return None
        finally:
            self.seconds += time.monotonic() - began

    def _not_run(
        self, kernel: LoadedKernel, launch: Launch, request: LaunchKernel, caller: int, shared_limit: int
    ) -> LaunchOutcome | None:
        """Outcome of a launch that a device refuses, or that is not followed here; None for all others."""
        refusal = refused(kernel, request, shared_limit)
        if refusal is not None:
            details = (("kernel", str(read_name(kernel.name))), ("reason", refusal.reason), *shape(launch))
            self.note(HostMistake(HostCode.LAUNCH_REFUSED, caller, details=details))
            return LaunchOutcome(refusal.code)
        if self.observation.idle:
            return LaunchOutcome(CudaError.SUCCESS)
        if self.gave_up or self.unsupported:
            return LaunchOutcome(CudaError.SUCCESS, later=CudaError.LAUNCH_TIMEOUT)
        return None

    def _cleared_workspace(self) -> int:
        """The address of zeros that the blocks of a cooperative launch share; 0 if no kernel asks for it."""
        if self._shared_by_grid is None:
            return 0
        part = slice(self._shared_by_grid.start, self._shared_by_grid.end)
        self.memory.bytes[part], self.memory.written[part] = 0, 1
        return self._shared_by_grid.address

    def _kernel(self, kernel: LoadedKernel) -> EmulatedKernel:
        key = kernel.module, kernel.name
        if key not in self._emulated:
            file, build = self._files[kernel.module]
            self._emulated[key] = EmulatedKernel(
                replace(build, entry=kernel.name),
                build.source_name,
                file,
                lay_out=self._lay_out,
                observers=self._observers,
                time_is_up=self.time_is_up,
            )
        return self._emulated[key]

    def _observers(self) -> tuple[TouchedBytes, ...]:
        return (self._touched,) if self._touched else ()

    def _uses(self, number: int) -> tuple[tuple[Use, Spans], ...]:
        """Uses of bytes by a launch, as far as they were asked for.

        Kernels that synchronise through memory may have an order of their own among themselves.
        """
        touched = self._touched
        if touched is None or synchronises_through_memory(self._modules[number]):
            return ()
        ranges = [(allocation.start, allocation.end) for allocation in self.memory.in_order()]
        marks = {Use.READS: touched.read, Use.WRITES: touched.written, Use.UPDATES: touched.updated}
        uses = ((use, marked(of_use, ranges)) for use, of_use in marks.items())
        return tuple((use, spans) for use, spans in uses if len(spans))

    def _arguments(self, kernel: LoadedKernel, content: bytes, caller: int) -> tuple[Argument, ...]:
        """The parameters as they are; pointers to memory of the host are noted."""
        types = read_name(kernel.name).types or ()
        arguments = []
        for number, (offset, size) in enumerate(kernel.parameters):
            value = np.frombuffer(content[offset : offset + size], f"V{size}")[0]
            arguments.append(Argument(f"parameter {number + 1}", "value", value))
            pointer = number < len(types) and types[number].kind == "pointer" and size == _POINTER_BYTES
            if pointer:
                (address,) = struct.unpack("<Q", content[offset : offset + size])
                if address and self.memory.nearest(address) is None:
                    details = (("kernel", str(read_name(kernel.name))), ("argument", number + 1))
                    mistake = HostMistake(HostCode.POINTER_IN_KERNEL, caller, details=details)
                    self.note(self.symbol_mistake(caller, address) or mistake)
        return tuple(arguments)

    def _watched_bytes(
        self, kernel: LoadedKernel, arguments: tuple[Argument, ...]
    ) -> dict[int, bytes] | None:
        """Bytes behind pointers among the arguments, by their position; None unless the kernel is watched."""
        if read_name(kernel.name).name not in self.observation.watched:
            return None
        values = ((p, np.asarray(argument.value).tobytes()) for p, argument in enumerate(arguments))
        numbers = {p: struct.unpack("<Q", value)[0] for p, value in values if len(value) == _POINTER_BYTES}
        return {p: self._bytes_from(a) for p, a in numbers.items() if self.memory.holding(a) is not None}

    def _bytes_from(self, address: int) -> bytes:
        """Device memory from an address to the end of its allocation."""
        allocation = self.memory.holding(address)
        if allocation is None:
            return b""
        return self.memory.bytes[allocation.start + address - allocation.address : allocation.end].tobytes()

    @staticmethod
    def _pointers(kernel: LoadedKernel, arguments: tuple[Argument, ...]) -> Iterator[_Pointer | None]:
        """The pointers among the arguments of a launch, in their order; None for each other argument."""
        types = read_name(kernel.name).types or ()
        for argument, of_type in zip_longest(arguments, types[: len(arguments)]):
            value = np.asarray(argument.value).tobytes()
            if of_type is not None and of_type.kind == "pointer" and len(value) == _POINTER_BYTES:
                yield _Pointer(int.from_bytes(value, "little"), _ELEMENTS.get(of_type.name))
            else:
                yield None

    def _image_of(self, kernel: LoadedKernel, arguments: tuple[Argument, ...]) -> MemoryImage:
        """Device memory as it is, and what the launch of a kernel is given there."""
        if any(map(takes_memory, (self._modules[kernel.module], self._for_hazards[kernel.module]))):
            self.memory.lay_out_heap()
        elements: dict[int, np.dtype[Any]] = {}
        starts: list[int | None] = []
        for pointer in self._pointers(kernel, arguments):
            allocation = None if pointer is None else self.memory.holding(pointer.address)
            dtype = None if pointer is None else pointer.dtype
            if allocation is not None and dtype is not None and allocation.size % dtype.itemsize == 0:
                elements.setdefault(allocation.start, dtype)
            starts.append(None if allocation is None else allocation.start)
        arrays = {a.start: self._array(a, elements.get(a.start)) for a in self.memory.in_order()}
        pointed = tuple(None if start is None else arrays[start] for start in starts)
        used = self.memory.end
        addresses = self._addresses(kernel.module)
        content, written = self.memory.bytes[:used], self.memory.written[:used]
        copied = partial(self._copy.attempt_copy, self.memory)
        return MemoryImage(
            content,
            written,
            tuple(arrays.values()),
            pointed,
            addresses,
            elements,
            copied,
            heap=self.memory.heap,
        )

    def _lay_out(
        self,
        module: Module,
        function: Function,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        track: bool,
    ) -> Layout:
        """A copy of device memory for an attempt at the launch that runs now."""
        layout = self._image.lay_out(module, function, launch, arguments, track=track)
        if layout.memory.heap is not None:
            self._heaps.append(layout.memory.heap)
        return layout

    def _array(self, allocation: DeviceAllocation, element: np.dtype[Any] | None) -> Allocation:
        """An allocation as the emulator knows arrays."""
        width = element.itemsize if element is not None else 1
        shape = self.shapes.get(allocation.start, ())
        if width * math.prod(shape) != allocation.size or not shape:
            shape = (allocation.size // width,)
        direction = self._directions.get(allocation.start, "inout")
        name = self._variable_names.get(allocation.start) or self.name_of(allocation)
        return Allocation(name, allocation.start, allocation.end, width, shape, direction)

    def _keep(self, run: Run) -> tuple[int, ...]:
        """Put what a launch wrote into the memory that stays; gives the shared allocations it changed."""
        changed = []
        for name, content in run.outputs:
            start = int(name)
            allocation = self.memory.live[start]
            kept = self.memory.bytes[start : allocation.end]
            if start in self._image.types:
                element = self._image.types[start].itemsize
                self.work_left.changed(allocation, element, kept, content.reshape(-1).view(np.uint8))
            if allocation.sharing is not Sharing.DEVICE and not np.array_equal(kept, content.view(np.uint8)):
                changed.append(allocation.number)
            kept[:] = content.view(np.uint8)
        self._copy.keep_written(self.memory)
        if self.observation.marks_stores and self._touched is not None:
            for allocation in self.memory.live.values():
                part = slice(allocation.start, allocation.end)
                self.memory.written[part] |= self._touched.written[part] | self._touched.updated[part]
        self._keep_heap(run)
        return tuple(changed)

    def _keep_heap(self, run: Run) -> None:
        """Keep the blocks of the heap that a launch leaves, and what they hold."""
        if self.memory.heap is None:
            return
        for start, end, content, written in run.heap:
            self.memory.bytes[start:end], self.memory.written[start:end] = content, written
        blocks = ((block.start, block.end) for block in run.heap)
        self.memory.heap = self.memory.heap.after(blocks, self._heaps)


_ELEMENTS: Mapping[str, np.dtype[Any]] = {
    name: np.dtype(code)
    for code, names in {
        "i1": ("char", "signed char"), "u1": ("unsigned char", "bool"),
        "i2": ("short",), "u2": ("unsigned short",),
        "i4": ("int",), "u4": ("unsigned int",),
        "i8": ("long", "long long"), "u8": ("unsigned long", "unsigned long long"),
        "f2": ("__half",), "f4": ("float",), "f8": ("double",),
    }.items()
    for name in names
} | {"__nv_bfloat16": BFLOAT16}  # fmt: skip
"""The type of an element that a parameter points to."""
