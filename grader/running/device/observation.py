"""A launch as the device sees it: its kernel, the memory that it finds, what is wanted of it and was seen.

Each attempt at a launch begins with a copy of that memory and with what the launch is given: attempts of the
two builds, and trials of a changed kernel afterwards, for which an image is `kept` before the memory changes.
"""

from __future__ import annotations

from dataclasses import field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.records import frozen
from grader.base.sparse_memory import untouched
from grader.model import MOST_THREADS, Argument, Launch
from grader.running.device.device import LoadedKernel
from grader.running.device.memory import BASE
from grader.simulation.emulator.memory.layout import Layout, bytes_of, shared_layout, with_address
from grader.simulation.emulator.memory.memory import WINDOW, AddressSpace, Allocation, GlobalMemory
from grader.simulation.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from grader.model import Run
    from grader.running.device.memory import KernelHeap
    from grader.simulation.emulator.repair import RepairCase
    from grader.simulation.ptx import Function, Module, Variable

_RED_ZONE = 256
"""Bytes between device memory and each parameter behind it, which is aligned to as many."""

_SPACE = AddressSpace(BASE, {"shared": BASE - 4 * WINDOW, "local": BASE - 8 * WINDOW}, 1 << 40)


@frozen(eq=False)
class MemoryImage:
    """The memory of a launch: bytes ``[extent]`` from `BASE` on, and a 1 for each that holds a value.

    ``arrays`` are the allocations in it by their start, ``pointed`` the one that each parameter of the
    kernel points to, and ``addresses`` belong to the program's variables and functions. ``types`` are the
    types of elements, by the start of arrays, as far as the kernel's parameters give them. ``copied`` gives a
    copy for one attempt, with the given number of bytes behind it, where the maker has buffers for that.
    """

    bytes: NDArray[np.uint8]
    written: NDArray[np.uint8]
    arrays: tuple[Allocation, ...]
    pointed: tuple[Allocation | None, ...]
    addresses: Mapping[str, int]
    types: Mapping[int, np.dtype[Any]] = field(default_factory=dict)
    copied: Callable[[int], tuple[NDArray[np.uint8], NDArray[np.uint8]]] | None = None
    workspace: int = 0
    """The address of what the blocks of a cooperative launch share."""
    heap: KernelHeap | None = None
    """Heap of which ``malloc`` of a kernel hands out memory; None if no kernel has asked for it."""

    def kept(self) -> MemoryImage:
        """The same image, which stays as it is when the memory changes."""
        content, written = self._new_copy(0)
        return replace(self, bytes=content, written=written, copied=None)

    @property
    def in_use(self) -> Iterator[slice]:
        """The bytes of all allocations, and of what kernels have taken from the heap."""
        heap_arrays = self.heap.arrays() if self.heap else ()
        yield from (slice(array.start, array.end) for array in (*self.arrays, *heap_arrays))

    def lay_out(
        self,
        module: Module,
        function: Function,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        track: bool,  # noqa: ARG002 - which bytes hold a value is known here, always
    ) -> Layout:
        """A copy of the memory, and the parameters of the launch (see `emulator.memory.layout`)."""
        pointed: dict[str, Allocation | None] = {}
        pieces: dict[str, dict[int, Any]] = {}
        for formal, argument, array in zip(function.parameters, arguments, self.pointed, strict=True):
            pieces[formal.name] = _pieces(np.asarray(argument.value).tobytes())
            pointed[formal.name] = array
        in_memory = _parameters_in_memory(function, len(self.bytes))
        end = in_memory[-1][1].end + _RED_ZONE if in_memory else len(self.bytes)
        data, written = (self.copied or self._new_copy)(end - len(self.bytes))
        heap_arrays = self.heap.arrays() if self.heap else ()
        arrays = (*self.arrays, *heap_arrays, *(allocation for _, allocation in in_memory))
        memory = GlobalMemory(_SPACE, sorted(arrays, key=attrgetter("start")), data, written)
        memory.workspace = self.workspace
        for formal, allocation in in_memory:
            memory.fill(allocation, bytes_of(pieces[formal.name], formal.size), initialised=True)
        if self.heap:
            memory.heap = self.heap.for_attempt(memory)
        shared, shared_bytes = shared_layout(module, function, launch)
        addresses = {array.name: array.start for array in shared} | dict(self.addresses)
        addresses |= {formal.name: BASE + allocation.start for formal, allocation in in_memory}
        contents = ((array, memory.bytes[array.start : array.end]) for array in self.arrays)
        results = tuple(
            (Argument(str(array.start), "inout", content), content, array)
            for array, content in contents
            if not array.constant
        )
        return Layout(memory, results, shared, shared_bytes, addresses, pieces, pointed)

    def _new_copy(self, behind: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Copy of the bytes in use: freed bytes, and bytes between arrays, take no memory of this machine."""
        content, written = (untouched(len(self.bytes) + behind) for _ in range(2))
        for part in self.in_use:
            content[part], written[part] = self.bytes[part], self.written[part]
        return content, written


def _parameters_in_memory(function: Function, end: int) -> list[tuple[Variable, Allocation]]:
    """Places behind memory that ends at ``end`` for the parameters whose address a kernel takes.

    A compiled program does not contain their names; they are known by their numbers, from 1 on.
    """
    numbers = {formal.name: number for number, formal in enumerate(function.parameters, start=1)}
    in_memory = []
    for formal in with_address(function):
        start = -(-(end + _RED_ZONE) // _RED_ZONE) * _RED_ZONE
        end = start + formal.size
        name = f"parameter {numbers[formal.name]}"
        in_memory.append((formal, Allocation(name, start, end, TYPE_BYTES[formal.type], (), "const")))
    return in_memory


def _pieces(content: bytes) -> dict[int, Any]:
    """A parameter's value by byte offset: one number where it is one, else bytes."""
    if len(content) in (1, 2, 4, 8):
        return {0: np.frombuffer(content, f"u{len(content)}")[0]}
    return dict(enumerate(np.frombuffer(content, np.uint8)))


_REGISTERS = 32
"""Number of registers that a kernel is reported to use: nothing here allocates registers."""


def loaded(number: int, module: Module, function: Function) -> LoadedKernel:
    """A kernel with the places of its parameters, as C lays out a struct of them."""
    offsets, end = [], 0
    for formal in function.parameters:
        start = -(-end // formal.align) * formal.align
        offsets.append((start, formal.size))
        end = start + formal.size
    _, static_shared = shared_layout(module, function, Launch((1, 1, 1), (1, 1, 1)))
    constants = sum(variable.size for variable in module.variables if variable.space == "const")
    most_threads = min(function.most_threads or MOST_THREADS, MOST_THREADS)
    return LoadedKernel(
        function.name, number, tuple(offsets), _REGISTERS, static_shared, 0, constants, most_threads
    )


@frozen
class KernelRun:
    """Record of one launch: the kernel, where the program launched it, how, and the run."""

    kernel: str
    caller: int
    launch: Launch
    run: Run


@frozen(eq=False)
class EndedLaunch:
    """Launch that was checked for hazards, while device memory still is as it was before the launch.

    ``image`` changes with that memory: it must be `kept` for later use. ``trial`` is what the
    build for hazards showed.
    """

    ran: KernelRun
    trial: RepairCase
    image: MemoryImage


def _null_observer(ended: EndedLaunch) -> None:
    """Observer that does nothing."""


@frozen
class Observation:
    """Data that is wanted of launches.

    ``watched`` are the names of kernels of which the last launch that came to its end is seen. ``after`` is
    called with each launch before what it wrote is kept. With ``profile`` what each line moves is counted,
    and with ``count_only`` nothing is looked for: the staff's own programs. With ``idle`` no kernel runs,
    and each launch succeeds: to see what the host does by itself. With ``marks_stores`` the bytes that each
    launch stores count as written, which is kept otherwise only where somebody asks for it.
    """

    watched: frozenset[str] = frozenset()
    after: Callable[[EndedLaunch], None] = _null_observer
    profile: bool = False
    count_only: bool = False
    idle: bool = False
    marks_stores: bool = False
