"""Running one launch: arguments in, outputs, findings and counters out."""

from __future__ import annotations

import math
import time
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grader.base.records import frozen, mutable
from grader.model import Clause, Finding, FindingCode, FindingKind, Run, work_limit_reason
from grader.model.messages import worded
from grader.simulation.emulator.core import CERTAIN, OUT_OF_WORK, PAUSED, Attempt, NativeKernel
from grader.simulation.emulator.finding_store import with_races
from grader.simulation.emulator.linking.linker import link_hoisting
from grader.simulation.emulator.linking.program import Program, reserved_bytes_of
from grader.simulation.emulator.machine.geometry import SMS, WARP, Geometry
from grader.simulation.emulator.machine.machine import Machine
from grader.simulation.emulator.machine.scheduler import (
    HangError,
    LaterBlocksNeededError,
    Scheduler,
    TooMuchWorkError,
    other_orders,
    warp_priorities,
)
from grader.simulation.emulator.machine.state import TooMuchHeldError
from grader.simulation.emulator.memory.layout import (
    MOST_VARIABLE_BYTES,
    Bounds,
    VariablesTooLargeError,
    VariableTooSmallError,
    grain_of,
    lay_out,
    local_bytes_of,
)
from grader.simulation.emulator.naming import Names
from grader.simulation.emulator.observers import Counting, Detecting, ObserverGroup
from grader.simulation.emulator.profile import Profiling, TouchedBytes
from grader.simulation.emulator.races import AccessLog, RestartTracking
from grader.simulation.emulator.races.events import Events
from grader.simulation.emulator.races.rows import (
    Strengths,
    orders_by_whole_barriers,
    synchronises_in_parts,
    synchronises_through_memory,
)
from grader.simulation.emulator.reporter import Reporter
from grader.simulation.ptx.parser import symbol_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from grader.model import Argument, Launch, Named
    from grader.simulation.emulator.machine.machine import Observer
    from grader.simulation.emulator.machine.state import Code
    from grader.simulation.emulator.memory.layout import LayOut, Layout
    from grader.simulation.ptx import Function, Module

CHUNK_LANES = 32768
"""Lanes that run side by side: enough to make NumPy's overhead small, few enough for the cache."""

CHUNK_LOCAL_BYTES = 1 << 28
"""Local memory of a chunk at most, unless a single block needs more."""

SM_LANES, SM_BLOCKS, SM_SHARED_BYTES = 2048, 32, 164 << 10
"""Limits of a multiprocessor (CUDA C++ Programming Guide, compute capability 8.0)."""

STEPS = 1_000_000
"""Work that a launch may take, in vector steps; one over many lanes counts more than once (`FEW_LANES`)."""


LOOKED_AT = 4_000
"""Work in which the interpreter looks whether a block that takes long hangs."""

MOST_SPINNING = 50_000
"""Work that warps one after another may take beside their own work, waiting for each other."""


class _Facts(NamedTuple):
    """Facts about all launches of a kernel from its code; computing them takes as long as a small launch."""

    through_memory: bool
    """It synchronises through memory."""
    in_parts: bool
    """Some threads of a block synchronise alone."""
    grain: int
    local_bytes: int
    reserved_bytes: int
    """Bytes that the system reserves in the shared memory of each block."""


@mutable
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
    """Additional observers of a launch, beside the usual ones."""
    interpreted: bool = False
    """True if the interpreter in NumPy runs each launch, clean ones as well."""
    time_is_up: Callable[[], bool] = lambda: False
    """Returns true if a launch is to be given up, even if it has done little work."""
    _program: Program | None = field(default=None)
    _strengths: Strengths | None = None
    _facts: _Facts | None = None
    _tracked: frozenset[str] = frozenset()
    """The arrays that earlier launches both read and wrote."""
    _all_at_once: bool = False
    """True if blocks wait for each other, so that all that fit on a device at once run side by side."""
    _native: NativeKernel | None = None

    def facts(self) -> _Facts:
        """Facts that follow from its code alone."""
        if self._facts is None:
            self._facts = _Facts(
                synchronises_through_memory(self.module),
                synchronises_in_parts(self.module),
                grain_of(self.module),
                local_bytes_of(self.module, self.module.function(self.entry)),
                reserved_bytes_of(self.module),
            )
        return self._facts

    def program(self, layout: Layout) -> Program:
        """The linked program; the same one as long as the variables lie where they lay."""
        if self._program is None or self._program.addresses != layout.addresses:
            self._program = Program(self.module, layout.addresses, self.linker)
        return self._program

    def strengths(self, program: Program) -> Strengths:
        """Strengths of the accesses of its program."""
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
        outputs: bool = True,
    ) -> Run:
        """One launch.

        With ``detect`` hazards and uninitialised reads are detected (give it the -O0 PTX); without, traffic
        is counted, with ``races`` hazards are detected beside it, with ``profile`` traffic is counted by
        source line, too. Bounds are checked either way. ``steps`` is the budget of the launch: a launch that
        takes more work is given up, and ``Run.too_much_work`` says so. Without ``outputs`` a launch that ends
        clean may leave them out: a copy of large arrays takes longer than many a launch. Raises
        UnsupportedPtx for an instruction that the emulator does not interpret.
        """
        began = time.perf_counter()
        options = LaunchOptions(
            detect=detect,
            races=races or detect,
            profile=profile,
            observers=self.observers(),
            outputs=outputs,
        )
        try:
            clean, suspect = self._clean(launch, arguments, steps, options)
            if clean is not None:
                return replace(clean, seconds=time.perf_counter() - began)
            options = replace(options, suspect=suspect)
            execution, result = self._attempt(launch, arguments, steps, options)
        except VariablesTooLargeError as problem:
            return Run(findings=(_too_large(problem.bytes),), completed=False, launched=False)
        except VariableTooSmallError as problem:
            return Run(findings=(_too_small(problem.name),), completed=False, launched=False)
        if execution.log.order_mattered and result.completed:
            lanes = math.prod(launch.grid) * math.prod(launch.block)
            for priority in other_orders(execution.log.first_updates(lanes)):
                _, other = self._attempt(launch, arguments, steps, options, priority)
                result = replace(result, findings=with_races(result.findings, other.findings))
        return replace(result, seconds=time.perf_counter() - began)

    def _clean(
        self, launch: Launch, arguments: tuple[Argument, ...], steps: int, options: LaunchOptions
    ) -> tuple[Run | None, bool]:
        """The launch on the native core; None where it may not be clean, or another observer looks on.

        And true if one of its blocks takes long, so that it may never end.
        """
        if self.interpreted or options.profile or self.linker is not link_hoisting:
            return None, False
        touched = [observer for observer in options.observers if isinstance(observer, TouchedBytes)]
        if len(touched) < len(options.observers):
            return None, False

        def goes_on(block: int) -> bool:
            # The interpreter sees soon that a loop never ends; the core would go round in it.
            _, looked = self._attempt(launch, arguments, LOOKED_AT, replace(options, block=block))
            return not (looked.findings or self.time_is_up())

        clean, attempt = self._natively(launch, arguments, steps, options, goes_on, *touched)
        if attempt.is_too_large and not self.time_is_up():
            beginning = replace(options, taken=attempt.work)
            _, looked = self._attempt(launch, arguments, min(steps, LOOKED_AT), beginning)
            return _given_up(looked, attempt), False
        return clean, attempt.reason in {PAUSED, OUT_OF_WORK}

    def is_clean(self, launch: Launch, arguments: tuple[Argument, ...], *, steps: int = STEPS) -> bool | None:
        """True if a launch has no findings though some of its barriers were taken away; False if it has.

        None where only `run` can say: the core does not execute the kernel, or something other than barriers
        of whole blocks may order its accesses.
        """
        if self.interpreted or not orders_by_whole_barriers(self.module):
            return None
        options = LaunchOptions(detect=True, races=True)
        _, attempt = self._natively(launch, arguments, steps, options, lambda _: False)
        if attempt.clean or attempt.reason in CERTAIN:
            return attempt.clean
        return None

    def _natively(
        self,
        launch: Launch,
        arguments: tuple[Argument, ...],
        steps: int,
        options: LaunchOptions,
        goes_on: Callable[[int], bool],
        touched: TouchedBytes | None = None,
    ) -> tuple[Run | None, Attempt]:
        """The launch if it ends clean, then with its bytes as ``touched``, and how the last attempt ended."""
        if self._native is None:
            self._native = NativeKernel(self.module, self.entry, self.source)
        function, native = self.module.function(self.entry), self._native
        attempt = Attempt(clean=False, reason=native.refused)
        while not native.refused:
            layout = self.lay_out(self.module, function, launch, arguments, track=options.detect)
            marks = None if touched is None else np.zeros(touched.marks.shape, np.bool_)
            attempt = native.attempt(
                launch,
                layout,
                detect=options.detect,
                steps=steps,
                time_is_up=self.time_is_up,
                goes_on=goes_on,
                touched=marks,
            )
            if attempt.clean:
                if touched is not None and marks is not None:
                    touched.marks = marks
                return _run_of(attempt, layout, math.prod(launch.grid), outputs=options.outputs), attempt
            if not attempt.track:
                break
        return None, attempt

    def warp_by_warp(
        self, launch: Launch, arguments: tuple[Argument, ...], work: int, steps: int
    ) -> Named[NDArray[Any]]:
        """The outputs where warps run one after another, the last first; none where they do not all end.

        ``work`` is the work that they take side by side, from which their budget follows; it is ``steps`` at
        most.

        Side by side all threads take each step together, so an order that nothing enforces holds by chance.
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


def _run_of(attempt: Attempt, layout: Layout, blocks: int, *, outputs: bool) -> Run:
    """The run of a launch that ended clean on the native core."""
    return Run(
        _outputs(layout) if outputs else (),
        _names_of_changed_inputs(layout),
        counters=attempt.counters,
        steps=attempt.work,
        work=attempt.work,
        ended_blocks=blocks,
        ended_work=attempt.work,
        executed=attempt.executed,
    )


def _given_up(looked: Run, attempt: Attempt) -> Run | None:
    """The run of a launch of which the core has executed as much as it may, and nothing is wrong with that.

    ``looked`` is its beginning as the interpreter has it, which says where its threads are; None where that
    ends otherwise.
    """
    if looked.findings or looked.completed or looked.too_much_work is None:
        return None
    work, ended_blocks, ended_work = attempt.work, attempt.ended_blocks, attempt.ended_work
    return replace(looked, steps=work, work=work, ended_blocks=ended_blocks, ended_work=ended_work)


def _outputs(layout: Layout) -> Named[NDArray[Any]]:
    """Copies of the arrays that the kernel may write, as they are now."""
    return tuple(
        (argument.name, layout.memory.content(allocation, value))
        for argument, value, allocation in layout.arrays
        if argument.direction != "in"
    )


def _names_of_changed_inputs(layout: Layout) -> tuple[str, ...]:
    """Names of the arrays that only the host may write and the kernel has changed."""
    return tuple(
        argument.name
        for argument, value, allocation in layout.arrays
        if argument.direction == "in"
        and not np.array_equal(
            layout.memory.bytes[allocation.start : allocation.end],
            np.ascontiguousarray(value).reshape(-1).view(np.uint8),
        )
    )


def _too_large(taken: int) -> Finding:
    details = (("bytes", taken), ("most", MOST_VARIABLE_BYTES))
    return worded(Finding(FindingKind.FAULT, code=FindingCode.VARIABLES_TOO_LARGE, details=details))


def _too_small(name: str) -> Finding:
    details = (("lack", (Clause("not-in-device-memory", (("name", name),)),)),)
    return worded(Finding(FindingKind.FAULT, code=FindingCode.VARIABLE_TOO_SMALL, details=details))


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


@frozen
class LaunchOptions:
    """Options of a launch: the checks to perform, see `Kernel.run`."""

    detect: bool
    races: bool
    profile: bool = False
    observers: tuple[Observer, ...] = ()
    """Additional observers, beside the ones that the flags choose."""
    outputs: bool = True
    """False where the outputs of a launch that ends clean are not asked for."""
    taken: int = 0
    """Work that the core has done of a launch whose beginning the interpreter shows; 0 of others."""
    block: int | None = None
    """The one block that is run; None to run all of them."""
    suspect: bool = False
    """True if a block of it has been seen not to end soon."""


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
        self.all_at_once = all_at_once or bool(self.layout.memory.workspace)
        program = kernel.program(self.layout)
        self.code: Code = program.link(kernel.entry)
        shapes = dict(kernel.shapes)
        shared = tuple(
            replace(array, name=(name := symbol_name(array.name)), shape=shapes.get(name, ()))
            for array in self.layout.shared
        )
        self.bounds = Bounds(program, self.layout)
        names = Names(program, shared, kernel.source)
        self.reporter = Reporter(names, kernel.file, tells_returns=options.detect)
        self.facts = facts = kernel.facts()
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
        """Run all blocks, chunk by chunk, until the end or for at most ``steps``."""
        completed, machine, total = True, None, math.prod(self.launch.grid)
        self.log.allowance.left, self.log.allowance.time_is_up = steps, self.time_is_up
        started = 0
        for first, blocks in self._chunks():
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
        """True if the blocks of a chunk came to their end; ``later_blocks``: others wait to be started."""
        alone = self.all_at_once or self.options.block is not None
        could_help = later_blocks and not alone and self._fits_on_a_device()
        try:
            parameters = {name: dict(pieces) for name, pieces in self.layout.parameters.items()}
            Scheduler(
                machine,
                self.code,
                parameters,
                budget,
                later_blocks=could_help,
                suspect_after=LOOKED_AT if self.options.suspect else None,
                time_is_up=self.time_is_up,
            ).run()
        except HangError as hang:
            self.reporter.timed_out(machine, hang.groups, machine.steps)
            return False
        except TooMuchWorkError as stop:
            steps = self.options.taken or machine.steps
            self.too_much_work = self.reporter.too_much_work(machine, stop.groups, steps)
            return False
        except TooMuchHeldError as stop:
            self.too_much_work = work_limit_reason(stop.reason)
            return False
        return not machine.stopped

    def _judge(self, finish: Callable[[Machine], None], machine: Machine, *, completed: bool) -> bool:
        """Judge the remaining accesses; gives if the launch is still ``completed``. An earlier end stays."""
        try:
            finish(machine)
        except TooMuchHeldError as stop:
            if completed:
                self.too_much_work = work_limit_reason(stop.reason)
            return False
        return completed

    def _chunks(self) -> Iterator[tuple[int, int]]:
        """The first block and the number of those that run side by side, in the order in which they run."""
        if self.options.block is not None:
            yield self.options.block, 1
            return
        total, together = math.prod(self.launch.grid), self._together()
        chunks = range(0, total, together)
        for first in chunks if self.priority is None else reversed(chunks):
            yield first, min(together, total - first)

    def _together(self) -> int:
        """Number of blocks that run side by side."""
        if self.all_at_once:
            return math.prod(self.launch.grid)
        local = self.facts.local_bytes
        return max(1, min(CHUNK_LANES, CHUNK_LOCAL_BYTES // local) // math.prod(self.launch.block))

    def _fits_on_a_device(self) -> bool:
        """True if a device could hold all blocks at once, so that they may wait for each other."""
        threads = -(-math.prod(self.launch.block) // WARP) * WARP
        per_sm = min(SM_LANES // threads, SM_BLOCKS, SM_SHARED_BYTES // max(1, self.layout.shared_bytes))
        return math.prod(self.launch.grid) <= SMS * per_sm

    def _machine(self, geometry: Geometry) -> Machine:
        return Machine(
            geometry=geometry,
            memory=self.layout.memory,
            shared_bytes=self.layout.shared_bytes,
            local_bytes=self.facts.local_bytes,
            reserved_bytes=self.facts.reserved_bytes,
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
        outputs = _outputs(self.layout)
        counters = self.counting.counters()
        if self.options.detect:
            self.reporter.unset_in_outputs(content for _, content in outputs)
            counts = self.detecting
            counters = replace(counters, barriers=counts.barriers, global_store_bytes=counts.stored_bytes)
        return Run(
            outputs,
            _names_of_changed_inputs(self.layout),
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
            heap=self.layout.memory.heap.live_blocks() if self.layout.memory.heap else (),
            executed=frozenset(self.executed),
        )
