"""Running one launch: arguments in, outputs, findings and counters out."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.emulator.bounds import Bounds
from grader.emulator.geometry import Geometry
from grader.emulator.hazards import AccessLog, LogFullError, TrackThisToo
from grader.emulator.hazards.events import Events
from grader.emulator.hazards.strength import Strengths, synchronises_in_parts, synchronises_through_memory
from grader.emulator.layout import grain_of, lay_out, local_bytes_of
from grader.emulator.machine import Machine
from grader.emulator.naming import Names, symbol_name
from grader.emulator.observers import Counting, Detecting
from grader.emulator.parameters import pieces_of
from grader.emulator.profile import ProfiledMachine, Profiling
from grader.emulator.program import Program
from grader.emulator.reporter import Reporter
from grader.emulator.scheduler import BudgetExceededError, run_blocks
from grader.model import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.emulator.layout import Layout
    from grader.emulator.program import Code
    from grader.model import Argument, Launch, Named
    from grader.ptx import Module

CHUNK_LANES = 32768
"""Lanes that run side by side: enough to make NumPy's overhead small, few enough for the cache."""

CHUNK_LOCAL_BYTES = 1 << 28
"""Local memory of a chunk at most, unless a single block needs more."""

STEPS = 500_000
"""Vector steps that a chunk of blocks may take before it counts as hung."""


@dataclass(eq=False, slots=True)
class Kernel:
    """A kernel that is linked once and launched any number of times.

    ``source`` is the name of the student's file in the PTX, ``file`` the one for findings, ``shapes`` the
    extents of shared arrays that are known.
    """

    module: Module
    entry: str
    source: str = ""
    file: str = ""
    shapes: Named[tuple[int, ...]] = ()
    _program: Program | None = field(default=None)
    _tracked: frozenset[str] = frozenset()
    """The arrays that earlier launches both read and wrote."""

    def program(self, layout: Layout) -> Program:
        """The linked program; the same one as long as the variables lie where they lay."""
        if self._program is None or self._program.addresses != layout.addresses:
            self._program = Program(self.module, layout.addresses)
        return self._program

    def run(
        self,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        detect: bool,
        steps: int = STEPS,
        profile: bool = False,
    ) -> Run:
        """One launch.

        With ``detect`` hazards and uninitialised reads are looked for (give it the -O0 PTX); without,
        traffic is counted, with ``profile`` by source line, too. Bounds are checked either way. ``steps`` is
        the budget of a chunk of blocks.
        Raises UnsupportedPtx for an instruction that the emulator does not interpret.
        """
        began = time.perf_counter()
        tracked = self._tracked
        while True:
            execution = Execution(self, launch, arguments, detect=detect, tracked=tracked, profile=profile)
            try:
                with np.errstate(all="ignore"):
                    result = execution.run(steps)
            except TrackThisToo as found:
                tracked = self._tracked = tracked | {found.array}
                continue
            return replace(result, seconds=time.perf_counter() - began)


def run(
    module: Module,
    entry: str,
    launch: Launch,
    arguments: tuple[Argument, ...],
    *,
    detect: bool,
    steps: int = STEPS,
    **names: Any,  # noqa: ANN401 - source, file and shapes, see `Kernel`
) -> Run:
    """One launch of a kernel that is not launched again; see `Kernel.run`."""
    return Kernel(module, entry, **names).run(launch, arguments, detect=detect, steps=steps)


class Execution:
    """One attempt at a launch."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        detect: bool,
        tracked: frozenset[str],
        profile: bool,
    ) -> None:
        self.function = kernel.module.function(kernel.entry)
        self.launch, self.arguments = launch, arguments
        self.layout = lay_out(kernel.module, self.function, launch, arguments, track=detect)
        self.code: Code
        program = kernel.program(self.layout)
        self.code = program.link(kernel.entry)
        known = dict(kernel.shapes)
        shared = tuple(
            replace(array, name=(name := symbol_name(array.name)), shape=known.get(name, ()))
            for array in self.layout.shared
        )
        self.bounds = Bounds(program, self.layout, self.function, arguments)
        self.reporter = Reporter(Names(program, shared, kernel.source), kernel.file)
        self.local_bytes = local_bytes_of(kernel.module, self.function)
        events = Events(
            Strengths(program.sites),
            synchronises_through_memory(kernel.module),
            synchronises_in_parts(kernel.module),
        )
        self.log = AccessLog(events, grain_of(kernel.module), tracked)
        self.counting = Profiling(line_of=self.reporter.names.line) if profile else Counting()
        self.observer = Detecting(self.log) if detect else self.counting
        self.steps = 0

    def run(self, steps: int) -> Run:
        """All blocks, chunk by chunk, until the end or for so many steps."""
        completed, machine = True, None
        for first, blocks in self._chunks():
            machine = self._machine(Geometry(self.launch, first, blocks))
            self.log.begin(machine)
            try:
                run_blocks(machine, self.code, self._parameters(), steps)
            except BudgetExceededError as hung:
                self.reporter.timed_out(machine, hung.groups, machine.steps)
                completed = False
            except LogFullError:
                self.reporter.timed_out(machine, [], machine.steps)
                completed = False
            self.steps += machine.steps
            self.log.finish_chunk(machine)
            if machine.stopped or not completed:
                completed = False
                break
        if machine is not None:
            self.log.finish(machine)
        for space, conflict, where in self.log.conflicts:
            self.reporter.race(where, space, conflict, self.log.grain)
        return self._result(completed=completed)

    def _chunks(self) -> Iterator[tuple[int, int]]:
        """First block and number of blocks of each chunk."""
        x, y, z = self.launch.grid
        total = x * y * z
        threads = int(np.prod(self.launch.block))
        together = max(1, min(CHUNK_LANES, CHUNK_LOCAL_BYTES // self.local_bytes) // threads)
        for first in range(0, total, together):
            yield first, min(together, total - first)

    def _machine(self, geometry: Geometry) -> Machine:
        machine_type = ProfiledMachine if isinstance(self.observer, Profiling) else Machine
        return machine_type(
            geometry=geometry,
            memory=self.layout.memory,
            shared_bytes=self.layout.shared_bytes,
            local_bytes=self.local_bytes,
            observer=self.observer,
            reporter=self.reporter,
            bounds=self.bounds,
        )

    def _parameters(self) -> dict[str, dict[int, Any]]:
        """The kernel's parameters as pieces by byte offset (PTX ISA section 5.1.6.1)."""
        places = {argument.name: place for argument, _, place in self.layout.arrays}
        passed = zip(self.function.parameters, self.arguments, strict=True)
        return {formal.name: pieces_of(formal, argument, places) for formal, argument in passed}

    def _result(self, *, completed: bool) -> Run:
        outputs, changed = [], []
        for argument, value, allocation in self.layout.arrays:
            content = self.layout.memory.content(allocation, value)
            if argument.direction != "in":
                outputs.append((argument.name, content))
            elif content.tobytes() != np.ascontiguousarray(value).tobytes():
                changed.append(argument.name)
        findings, counters = self.reporter.findings(), self.counting.counters()
        outcome = Run(tuple(outputs), tuple(changed), findings, counters, completed=completed)
        lines = self.counting.lines() if isinstance(self.counting, Profiling) else ()
        return replace(outcome, lines=lines, steps=self.steps, printed=self.reporter.printed.text())
