"""Running one launch: arguments in, outputs, findings and counters out."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.emulator.linking.linker import link_hoisting
from grader.emulator.linking.program import Program
from grader.emulator.machine.geometry import SMS, WARP, Geometry
from grader.emulator.machine.machine import Machine
from grader.emulator.machine.scheduler import (
    HangError,
    LaterBlocksNeededError,
    Scheduler,
    TooMuchWorkError,
    other_orders,
    warp_priorities,
)
from grader.emulator.machine.state import TooMuchHeldError
from grader.emulator.memory.layout import (
    MOST_VARIABLE_BYTES,
    Bounds,
    VariablesTooLargeError,
    VariableTooSmallError,
    grain_of,
    lay_out,
    local_bytes_of,
)
from grader.emulator.naming import Names
from grader.emulator.observers import Counting, Detecting, ObserverGroup
from grader.emulator.profile import Profiling
from grader.emulator.races import AccessLog, RestartTracking
from grader.emulator.races.events import Events
from grader.emulator.races.rows import Strengths, synchronises_in_parts, synchronises_through_memory
from grader.emulator.reporter import Reporter
from grader.messages import worded
from grader.model import SEVERITIES, Clause, Finding, FindingCode, FindingKind, Run, given_up_because
from grader.ptx.parser import symbol_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.emulator.machine.machine import Observer
    from grader.emulator.machine.state import Code
    from grader.emulator.memory.layout import LayOut, Layout
    from grader.model import Argument, Launch, Named
    from grader.ptx import Function, Module

CHUNK_LANES = 32768
"""Lanes that run side by side: enough to make NumPy's overhead small, few enough for the cache."""

CHUNK_LOCAL_BYTES = 1 << 28
"""Local memory of a chunk at most, unless a single block needs more."""

SM_LANES, SM_BLOCKS, SM_SHARED_BYTES = 2048, 32, 164 << 10
"""What a multiprocessor holds at once (CUDA C++ Programming Guide, compute capability 8.0)."""

STEPS = 1_000_000
"""Work that a launch may take, in vector steps; one over many lanes counts more than once (`FEW_LANES`)."""


MOST_SPINNING = 50_000
"""Work that warps one after another may take beside what they do, waiting for each other."""


class _Facts(NamedTuple):
    """What the code of a kernel says of all its launches; finding it out takes as long as a small one."""

    through_memory: bool
    """It synchronises through memory."""
    in_parts: bool
    """Some threads of a block synchronise alone."""
    grain: int
    local_bytes: int


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
    linker: Callable[[Program, Function], Code] = link_hoisting
    """Links a function of the module; tracing and shadows link steps that do more, and each of them."""
    lay_out: LayOut = lay_out
    """Puts memory and parameters in place before each attempt at a launch."""
    observers: Callable[[], tuple[Observer, ...]] = tuple
    """Those who look on at a launch, beside the usual ones."""
    time_is_up: Callable[[], bool] = lambda: False
    """Whether a launch is to be given up, however little work it has done."""
    _program: Program | None = field(default=None)
    _strengths: Strengths | None = None
    _facts: _Facts | None = None
    _tracked: frozenset[str] = frozenset()
    """The arrays that earlier launches both read and wrote."""
    _all_at_once: bool = False
    """Whether blocks wait for each other, so that all run side by side that a device can hold at once."""

    def facts(self) -> _Facts:
        """What its code alone says."""
        if self._facts is None:
            self._facts = _Facts(
                synchronises_through_memory(self.module),
                synchronises_in_parts(self.module),
                grain_of(self.module),
                local_bytes_of(self.module, self.module.function(self.entry)),
            )
        return self._facts

    def program(self, layout: Layout) -> Program:
        """The linked program; the same one as long as the variables lie where they lay."""
        if self._program is None or self._program.addresses != layout.addresses:
            self._program = Program(self.module, layout.addresses, self.linker)
        return self._program

    def strengths(self, program: Program) -> Strengths:
        """How strong the accesses of its program are."""
        if self._strengths is None or self._strengths.sites is not program.sites:
            self._strengths = Strengths(self.module, program.sites)
        return self._strengths

    def run(
        self,
        launch: Launch,
        arguments: tuple[Argument, ...],
        *,
        detect: bool,
        steps: int = STEPS,
        races: bool = False,
        profile: bool = False,
    ) -> Run:
        """One launch.

        With ``detect`` hazards and uninitialised reads are looked for (give it the -O0 PTX); without,
        traffic is counted, with ``races`` hazards are looked for beside it, with ``profile`` traffic is
        counted by source line, too. Bounds are checked either way. ``steps`` is the budget of the launch:
        what takes more work is given up, and ``Run.too_much_work`` says so.
        Raises UnsupportedPtx for an instruction that the emulator does not interpret.
        """
        began = time.perf_counter()
        observers = self.observers()
        options = LaunchOptions(detect=detect, races=races or detect, profile=profile, observers=observers)
        try:
            execution, result = self._attempt(launch, arguments, steps, options)
        except VariablesTooLargeError as problem:
            return Run(findings=(_too_large(problem.bytes),), completed=False, launched=False)
        except VariableTooSmallError as problem:
            return Run(findings=(_too_small(problem.name),), completed=False, launched=False)
        if execution.log.order_mattered and result.completed:
            lanes = math.prod(launch.grid) * math.prod(launch.block)
            for priority in other_orders(execution.log.first_updates(lanes)):
                _, other = self._attempt(launch, arguments, steps, options, priority)
                result = replace(result, findings=_with_races(result.findings, other.findings))
        return replace(result, seconds=time.perf_counter() - began)

    def warp_by_warp(
        self, launch: Launch, arguments: tuple[Argument, ...], work: int, steps: int
    ) -> Named[NDArray[Any]]:
        """The outputs where warps run one after another, the last first; none where they do not all end.

        ``work`` is what they take side by side, from which their budget follows; it is ``steps`` at most.

        Side by side all threads take each step together, so an order that nothing asks for holds by chance.
        """
        options = LaunchOptions(detect=False, races=False)
        priorities = warp_priorities(launch)
        budget = min(steps, MOST_SPINNING + work * (1 + int(priorities.max())))
        _, run = self._attempt(launch, arguments, budget, options, priorities, apart=True)
        return run.outputs if run.completed else ()

    def _attempt(
        self,
        launch: Launch,
        arguments: tuple[Argument, ...],
        steps: int,
        options: LaunchOptions,
        priority: NDArray[np.int64] | None = None,
        *,
        apart: bool = False,
    ) -> tuple[Execution, Run]:
        """The launch in one order of its lanes, begun again where the reads of another array must be kept.

        ``apart``: lanes of different ``priority`` never run side by side.
        """
        while True:
            execution = Execution(
                self,
                launch,
                arguments,
                options,
                tracked=self._tracked,
                priority=priority,
                apart=apart,
                all_at_once=self._all_at_once,
            )
            try:
                with np.errstate(all="ignore"):
                    return execution, execution.run(steps)
            except RestartTracking as request:
                self._tracked |= {request.array}
            except LaterBlocksNeededError:
                self._all_at_once = True


def _too_large(taken: int) -> Finding:
    details = (("bytes", taken), ("most", MOST_VARIABLE_BYTES))
    return worded(Finding(FindingKind.FAULT, code=FindingCode.VARIABLES_TOO_LARGE, details=details))


def _too_small(name: str) -> Finding:
    details = (("lack", (Clause("not-in-device-memory", (("name", name),)),)),)
    return worded(Finding(FindingKind.FAULT, code=FindingCode.VARIABLE_TOO_SMALL, details=details))


def _with_races(findings: tuple[Finding, ...], others: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings with the races that only another order of the threads shows, or shows to be graver."""
    merged = list(findings)
    for race in (finding for finding in others if finding.kind is FindingKind.RACE):
        alike = [at for at, finding in enumerate(findings) if _race_key(finding) == _race_key(race)]
        if not alike:
            merged.append(race)
        elif all(_gravity(merged[at]) < _gravity(race) for at in alike):
            same = [at for at in alike if merged[at].hazard == race.hazard]
            merged[(same or alike)[0]] = race
    return tuple(merged)


def _race_key(finding: Finding) -> tuple[object, ...]:
    """Races with the same key are about the same two lines, whichever comes first."""
    return (finding.kind, frozenset((finding.line, finding.other_line)), finding.array)


def _gravity(finding: Finding) -> int:
    """How grave a finding is, as a number."""
    return SEVERITIES.index(finding.severity)


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


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """What is looked for in a launch: see `Kernel.run`."""

    detect: bool
    races: bool
    profile: bool = False
    observers: tuple[Observer, ...] = ()
    """They look on beside those that are chosen by the flags."""


class Execution:
    """One attempt at a launch."""

    def __init__(
        self,
        kernel: Kernel,
        launch: Launch,
        arguments: tuple[Argument, ...],
        options: LaunchOptions,
        *,
        tracked: frozenset[str] = frozenset(),
        priority: NDArray[np.int64] | None = None,
        apart: bool = False,
        all_at_once: bool = False,
    ) -> None:
        self.priority, self.apart = priority, apart
        self.function = kernel.module.function(kernel.entry)
        self.time_is_up = kernel.time_is_up
        self.launch = launch
        self.layout = kernel.lay_out(kernel.module, self.function, launch, arguments, track=options.detect)
        self.code: Code
        self.all_at_once = all_at_once or bool(self.layout.memory.workspace)
        program = kernel.program(self.layout)
        self.code = program.link(kernel.entry)
        shapes = dict(kernel.shapes)
        shared = tuple(
            replace(array, name=(name := symbol_name(array.name)), shape=shapes.get(name, ()))
            for array in self.layout.shared
        )
        self.bounds = Bounds(program, self.layout)
        self.reporter = Reporter(Names(program, shared, kernel.source), kernel.file)
        facts = kernel.facts()
        self.local_bytes = facts.local_bytes
        events = Events(
            kernel.strengths(program),
            facts.through_memory,
            facts.in_parts,
            backwards=priority is not None,
        )
        self.log = AccessLog(events, facts.grain, tracked)
        self.counting = Profiling(line_of=self.reporter.names.line) if options.profile else Counting()
        self.detecting = Detecting(self.log, tracks_initialisation=options.detect)
        self.options = options
        chosen = [
            *([] if options.detect else [self.counting]),
            *([self.detecting] if options.races else []),
            *options.observers,
        ]
        self.observer: Observer = chosen[0] if len(chosen) == 1 else ObserverGroup(tuple(chosen))
        self.steps = self.work = 0
        self.ended_blocks = self.ended_work = 0
        self.executed: set[tuple[str, int]] = set()
        self.too_much_work: Clause | None = None

    def run(self, steps: int) -> Run:
        """All blocks, chunk by chunk, until the end or for so many steps."""
        completed, machine, total = True, None, math.prod(self.launch.grid)
        together, started = self._together(), 0
        self.log.allowance.left, self.log.allowance.time_is_up = steps, self.time_is_up
        chunks = range(0, total, together)
        for first in chunks if self.priority is None else reversed(chunks):
            blocks = min(together, total - first)
            machine = self._machine(Geometry(self.launch, first, blocks))
            self.observer.began(machine)
            started += blocks
            completed = self._run_chunk(machine, steps - self.work, later_blocks=started < total)
            self.steps += machine.steps
            self.work += machine.work
            completed = self._judge(self.log.finish_chunk, machine, completed=completed)
            if not completed:
                break
            self.ended_blocks, self.ended_work = started, self.work
        if machine is not None:
            completed = self._judge(self.log.finish, machine, completed=completed)
        for space, conflict, chunk in self.log.conflicts:
            self.reporter.race(chunk, space, conflict, self.log.grain)
        return self._result(completed=completed)

    def _run_chunk(self, machine: Machine, budget: int, *, later_blocks: bool) -> bool:
        """Whether the blocks of a chunk came to their end; ``later_blocks``: others wait to be started."""
        could_help = later_blocks and not self.all_at_once and self._fits_on_a_device()
        try:
            parameters = {name: dict(pieces) for name, pieces in self.layout.parameters.items()}
            Scheduler(
                machine,
                self.code,
                parameters,
                budget,
                later_blocks=could_help,
                time_is_up=self.time_is_up,
            ).run()
        except HangError as hang:
            self.reporter.timed_out(machine, hang.groups, machine.steps)
            return False
        except TooMuchWorkError as stop:
            self.too_much_work = self.reporter.too_much_work(machine, stop.groups)
            return False
        except TooMuchHeldError as stop:
            self.too_much_work = given_up_because(stop.reason)
            return False
        return not machine.stopped

    def _judge(self, finish: Callable[[Machine], None], machine: Machine, *, completed: bool) -> bool:
        """Judge what is left; gives whether the launch is ``completed`` still. What ended it before stays."""
        try:
            finish(machine)
        except TooMuchHeldError as stop:
            if completed:
                self.too_much_work = given_up_because(stop.reason)
            return False
        return completed

    def _together(self) -> int:
        """How many blocks run side by side."""
        if self.all_at_once:
            return math.prod(self.launch.grid)
        return max(1, min(CHUNK_LANES, CHUNK_LOCAL_BYTES // self.local_bytes) // math.prod(self.launch.block))

    def _fits_on_a_device(self) -> bool:
        """Whether a device could hold all blocks at once, so that they may wait for each other."""
        threads = -(-math.prod(self.launch.block) // WARP) * WARP
        per_sm = min(SM_LANES // threads, SM_BLOCKS, SM_SHARED_BYTES // max(1, self.layout.shared_bytes))
        return math.prod(self.launch.grid) <= SMS * per_sm

    def _machine(self, geometry: Geometry) -> Machine:
        return Machine(
            geometry=geometry,
            memory=self.layout.memory,
            shared_bytes=self.layout.shared_bytes,
            local_bytes=self.local_bytes,
            observer=self.observer,
            reporter=self.reporter,
            bounds=self.bounds,
            priority=self._priority_of(geometry),
            apart=self.apart,
            executed=self.executed,
        )

    def _priority_of(self, geometry: Geometry) -> NDArray[np.int64] | None:
        """The priority of a chunk's lanes."""
        if self.priority is None:
            return None
        first = geometry.first_block * geometry.threads
        return self.priority[first : first + geometry.size]

    def _result(self, *, completed: bool) -> Run:
        outputs, changed = [], []
        for argument, value, allocation in self.layout.arrays:
            content = self.layout.memory.content(allocation, value)
            if argument.direction != "in":
                outputs.append((argument.name, content))
            elif content.tobytes() != np.ascontiguousarray(value).tobytes():
                changed.append(argument.name)
        counters = self.counting.counters()
        if self.options.detect:
            self.reporter.unset_in_outputs(content for _, content in outputs)
            counts = self.detecting
            counters = replace(counters, barriers=counts.barriers, global_store_bytes=counts.stored_bytes)
        return Run(
            tuple(outputs),
            tuple(changed),
            self.reporter.findings(),
            counters,
            completed=completed,
            lines=self.counting.lines() if isinstance(self.counting, Profiling) else (),
            steps=self.steps,
            work=self.work,
            ended_blocks=self.ended_blocks,
            ended_work=self.ended_work,
            too_much_work=self.too_much_work,
            printed=self.reporter.printed.text(),
            heap=self.layout.memory.heap.left() if self.layout.memory.heap else (),
            executed=frozenset(self.executed),
        )
