"""Running one launch: arguments in, outputs, findings and counters out."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.emulator.geometry import Geometry
from grader.emulator.hazards import AccessLog, TrackThisToo
from grader.emulator.machine import Machine
from grader.emulator.memory import GLOBAL_BASE, Allocation, GlobalMemory
from grader.emulator.naming import Names, SharedArray, symbol_name
from grader.emulator.observers import Counting, Detecting
from grader.emulator.program import Program
from grader.emulator.reporter import Reporter
from grader.emulator.scheduler import BudgetExceededError, run_blocks
from grader.errors import UnsupportedPtx
from grader.model import Argument, Counters, Launch, Run
from grader.ptx import Function, Immediate, Module, Variable
from grader.ptx.nodes import TYPE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from grader.emulator.values import Value

CHUNK_LANES = 16384
"""Lanes that run side by side: enough to make NumPy's overhead small, few enough for the cache."""

LOCAL_BYTES = 16384
"""Local memory of a thread at most: its stack of function frames."""

STEPS = 100_000
"""Vector steps that a chunk of blocks may take before it counts as hung."""


def run(  # noqa: PLR0913 - each is named at the call
    module: Module,
    entry: str,
    launch: Launch,
    arguments: tuple[Argument, ...],
    *,
    detect: bool,
    source: str = "",
    file: str = "",
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = (),
    steps: int = STEPS,
) -> Run:
    """One launch of kernel ``entry``.

    With ``detect`` hazards and uninitialised reads are looked for (give it the -O0 PTX); without, traffic
    is counted. Bounds are checked either way. ``source`` is the student's file as the PTX calls it,
    ``file`` as findings should. ``shapes`` gives the extents of shared arrays that are known.
    Raises UnsupportedPtx for an instruction that the emulator does not interpret.
    """
    began = time.perf_counter()
    tracked: frozenset[str] = frozenset()
    while True:
        execution = _Execution(module, entry, launch, arguments, detect=detect, names=(source, file, shapes))
        try:
            with np.errstate(all="ignore"):
                result = execution.run(tracked, steps)
        except TrackThisToo as found:
            tracked |= {found.array}
            continue
        return replace(result, seconds=time.perf_counter() - began)


class _Execution:
    """One attempt at a launch."""

    def __init__(
        self,
        module: Module,
        entry: str,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        detect: bool,
        names: tuple[str, str, tuple[tuple[str, tuple[int, ...]], ...]],
    ) -> None:
        self.module, self.launch, self.arguments, self.detect = module, launch, arguments, detect
        self.function = module.function(entry)
        variables = [v for v in module.variables if v.space in ("global", "const")]
        self.memory = GlobalMemory(
            [_extent(a) for a in arguments if isinstance(a.value, np.ndarray)]
            + [(symbol_name(v.name), v.size, TYPE_BYTES[v.type], ()) for v in variables],
            track=detect,
        )
        self.places = dict(
            zip([v.name for v in variables], self.memory.allocations[-len(variables) :], strict=False)
        )
        shared, self.shared_bytes = _shared_layout(module, self.function, launch)
        addresses = {array.name: array.start for array in shared}
        addresses |= {name: GLOBAL_BASE + place.start for name, place in self.places.items()}
        self.program = Program(module, addresses)
        source, file, shapes = names
        known = dict(shapes)
        arrays = tuple(replace(a, name=(n := symbol_name(a.name)), shape=known.get(n, ())) for a in shared)
        self.reporter = Reporter(Names(self.program, arrays, source), file)
        self._fill(variables)

    def _arrays(self) -> Iterator[tuple[Argument, NDArray[Any], Allocation]]:
        """The array arguments, each with where it lies."""
        arrays = [(a, a.value) for a in self.arguments if isinstance(a.value, np.ndarray)]
        for (argument, value), allocation in zip(arrays, self.memory.allocations, strict=False):
            yield argument, value, allocation

    def _fill(self, variables: Iterable[Variable]) -> None:
        for argument, value, allocation in self._arrays():
            self.memory.fill(allocation, value, initialised=argument.direction != "out")
        for variable in variables:
            content = _initial_bytes(variable, self.program.addresses)
            self.memory.fill(self.places[variable.name], content, initialised=True)

    def run(self, tracked: frozenset[str], steps: int) -> Run:
        code = self.program.link(self.function.name)
        log = AccessLog(grain=_grain(self.module), tracked=tracked)
        counting = Counting()
        observer = Detecting(log) if self.detect else counting
        completed, machine = True, None
        for first, blocks in self._chunks():
            machine = self._machine(Geometry(self.launch, first, blocks), observer)
            log.begin(machine)
            try:
                run_blocks(machine, code, self._parameters(), steps)
            except BudgetExceededError as hung:
                self.reporter.timed_out(machine, hung.groups, machine.steps)
                completed = False
            log.finish_chunk(machine)
            if machine.stopped or not completed:
                completed = False
                break
        if machine is not None:
            log.finish(machine)
        for space, conflict, where in log.conflicts:
            self.reporter.race(where, space, conflict, log.grain)
        return self._result(counting.counters(), completed=completed)

    def _chunks(self) -> Iterable[tuple[int, int]]:
        x, y, z = self.launch.grid
        total = x * y * z
        threads = int(np.prod(self.launch.block))
        together = max(1, CHUNK_LANES // threads)
        return [(first, min(together, total - first)) for first in range(0, total, together)]

    def _machine(self, geometry: Geometry, observer: Counting | Detecting) -> Machine:
        return Machine(
            geometry=geometry,
            memory=self.memory,
            shared_bytes=self.shared_bytes,
            local_bytes=_local_bytes(self.module, self.program.link(self.function.name).local_bytes),
            observer=observer,
            reporter=self.reporter,
        )

    def _parameters(self) -> dict[str, dict[int, Any]]:
        """The kernel's parameters as pieces by byte offset (PTX ISA section 5.1.6.1)."""
        addresses = iter(GLOBAL_BASE + allocation.start for allocation in self.memory.allocations)
        pieces: dict[str, dict[int, Any]] = {}
        for formal, argument in zip(self.function.parameters, self.arguments, strict=True):
            value = argument.value
            if isinstance(value, np.ndarray):
                pieces[formal.name] = {0: np.uint64(next(addresses))}
            else:
                pieces[formal.name] = {0: _widened(value, formal.size)}
        return pieces

    def _result(self, counters: Counters, *, completed: bool) -> Run:
        outputs, changed = [], []
        for argument, value, allocation in self._arrays():
            content = self.memory.content(allocation, value)
            if argument.direction != "in":
                outputs.append((argument.name, content))
            elif content.tobytes() != np.ascontiguousarray(value).tobytes():
                changed.append(argument.name)
        return Run(tuple(outputs), tuple(changed), self.reporter.findings(), counters, completed=completed)


def _extent(argument: Argument) -> tuple[str, int, int, tuple[int, ...]]:
    value: NDArray[Any] = argument.value  # type: ignore[assignment]
    return (argument.name, value.nbytes, value.itemsize, value.shape)


def _widened(value: np.generic, size: int) -> Value:
    """A scalar at the width of its parameter: an int32 for a ``size_t`` keeps its number."""
    if value.dtype.itemsize == size:
        return value
    if value.dtype.kind == "f":
        return value.astype(f"f{size}")
    return value.astype(f"{value.dtype.kind}{size}")


def _shared_layout(module: Module, function: Function, launch: Launch) -> tuple[tuple[SharedArray, ...], int]:
    """Where shared variables lie: static ones in order, then the dynamic ones, which share one place."""
    variables = [v for v in (*module.variables, *function.variables) if v.space == "shared"]
    arrays, end = [], 0
    for variable in (v for v in variables if v.count):
        end = -(-end // variable.align) * variable.align
        arrays.append(SharedArray(variable.name, end, variable.size))
        end += variable.size
    for variable in (v for v in variables if not v.count):
        start = -(-end // max(16, variable.align)) * max(16, variable.align)
        arrays.append(SharedArray(variable.name, start, launch.shared_bytes))
    if launch.shared_bytes:
        end = -(-end // 16) * 16 + launch.shared_bytes
    return tuple(arrays), end


def _initial_bytes(variable: Variable, addresses: Any) -> NDArray[np.uint8]:  # noqa: ANN401
    """A variable's initialiser in memory; what it leaves out is zero (PTX ISA section 5.4.4)."""
    size = TYPE_BYTES[variable.type]
    content = np.zeros(max(variable.count, len(variable.initial)), f"u{size}")
    for place, initial in enumerate(variable.initial):
        if isinstance(initial, Immediate):
            content[place] = np.uint64(initial.value & (2 ** (8 * size) - 1)).astype(content.dtype)
        elif initial.name in addresses:
            content[place] = addresses[initial.name] + initial.offset
        else:
            raise UnsupportedPtx(f"initialiser {initial.name}", 0)
    return content.view(np.uint8)[: variable.size]


def _grain(module: Module) -> int:
    """1 where an instruction accesses less than 4 bytes of memory at once, else 4."""
    for function in module.functions:
        for instruction in function.body:
            narrow = instruction.modifiers and TYPE_BYTES.get(instruction.modifiers[-1], 4) < 4  # noqa: PLR2004
            if (
                narrow
                and instruction.opcode in ("ld", "st", "atom", "red")
                and "param" not in instruction.modifiers
            ):
                return 1
    return 4


def _local_bytes(module: Module, own: int) -> int:
    """Local memory to set aside per thread: the kernel's frame, and a stack where it calls functions."""
    calls = any(instruction.opcode == "call" for f in module.functions for instruction in f.body)
    frames = any(v.space == "local" for f in module.functions for v in f.variables)
    return max(16, LOCAL_BYTES // 16 if calls and frames else own)


__all__ = ["Allocation", "run"]
