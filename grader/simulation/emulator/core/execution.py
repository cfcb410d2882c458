"""Launches on the core: memory and parameters handed over, and what came of it.

An `Attempt` that ended clean is what the interpreter would have said of the launch. Any other says nothing:
the launch has to be run there.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import field, fields
from typing import TYPE_CHECKING

import numpy as np

from grader.base.records import frozen, mutable
from grader.model import Counters
from grader.simulation.emulator.core.kernels import lower
from grader.simulation.emulator.core.library import ARRAY, BOUND, NONE, CoreResult, LaunchInput, library
from grader.simulation.emulator.core.lowering import (
    LANES,
    SPECIALS,
    LaunchConstant,
    LoweredKernel,
    NotLoweredError,
)
from grader.simulation.emulator.instructions.memory import piece_of
from grader.simulation.emulator.machine.values import DTYPES
from grader.simulation.emulator.memory.layout import Bounds, grain_of, local_bytes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from grader.model import Launch
    from grader.simulation.emulator.memory.layout import Layout
    from grader.simulation.ptx import Module

_RUNNING, _ENDED, _NOT_CLEAN, _TRACK, _OUT_OF_WORK, _PAUSED = range(6)

OUT_OF_WORK = "out-of-work"
"""Reason of an attempt whose budget is spent."""

PAUSED = "paused"
"""Reason of an attempt that is given up as one of its blocks takes long."""

REASONS = (
    "",
    "bounds",
    "alignment",
    "unset-memory",
    "race",
    "exited-before-barrier",
    "parted-at-barrier",
    "stuck",
    "lanes-missing",
    "mixed-spaces",
    "not-lowered",
    "no-memory",
    "spinning",
)
"""Reasons that make an attempt not clean, in the order of the core's `Reason`."""

CERTAIN = frozenset({"race", "unset-memory", "bounds", "exited-before-barrier", "parted-at-barrier"})
"""Reasons that stand for a finding of the interpreter where a clean launch has lost some of its barriers, and
barriers of whole blocks alone order accesses: who reads before the store then races with it."""

SLICE = 20_000_000
"""Operations of warps between two looks at the clock and at signals: some tenths of a second."""

MOST_LOCAL_BYTES = 64 << 20
"""Local memory of the threads of a block; a kernel that takes more is left to the interpreter."""

WORK_UNIT = 256
"""Operations of warps that count as one unit of work: they take the core as long as it the interpreter."""

LONG_BLOCK = 80_000
"""Work of a block after which it is asked whether the launch goes on."""

SUSPECT_BLOCK = 5_000
"""The same for a kernel of which an earlier launch did not go on."""

WORK_OF_BEGINNING = 16
"""Operations that laying out a warp counts as, as the core has it."""

_SPACES = {"global": 1, "shared": 2, "local": 3}


@frozen
class Attempt:
    """The outcome of a launch on the core; only a clean one has changed memory as the launch does."""

    clean: bool
    reason: str = ""
    track: str = ""
    """The array that is written as well as read: the launch has to begin again with its reads kept."""
    work: int = 0
    ended_blocks: int = 0
    ended_work: int = 0
    """Blocks that came to their end, and the work until then."""
    counters: Counters = field(default_factory=Counters)
    executed: frozenset[tuple[str, int]] = frozenset()

    @property
    def is_too_large(self) -> bool:
        """True if its work is spent though its blocks end: not because of one that may never do so."""
        return self.reason == OUT_OF_WORK and self.ended_work > 0 and self.work - self.ended_work < LONG_BLOCK


@mutable
class NativeKernel:
    """A kernel of the core, lowered once for each place of the module's variables."""

    module: Module
    entry: str
    source: str = ""
    """The name of the student's file in the PTX."""
    refused: str = ""
    """The first thing in it that the core does not execute; empty while there is none."""
    _lowered: LoweredKernel | None = None
    _exact: bool = False
    _facts: tuple[int, int] | None = None
    tracked: frozenset[str] = frozenset()
    """The arrays that earlier launches both read and wrote."""
    patience: int = LONG_BLOCK
    """Work of a block after which it is asked whether a launch goes on."""

    def lowered(self, layout: Layout, *, exact: bool) -> LoweredKernel | None:
        """The operations for a layout; None where the core does not execute the kernel."""
        if self.refused or library() is None:
            return None
        if (
            self._lowered is None
            or self._lowered.program.addresses != layout.addresses
            or self._exact is not exact
        ):
            try:
                self._exact = exact
                self._lowered = lower(self.module, self.entry, layout, exact=exact, source=self.source)
            except NotLoweredError as problem:
                self.refused = str(problem)
                return None
        return self._lowered

    def attempt(
        self,
        launch: Launch,
        layout: Layout,
        *,
        detect: bool,
        steps: int,
        time_is_up: Callable[[], bool] = lambda: False,
        goes_on: Callable[[int], bool] = lambda _: True,
        touched: NDArray[np.bool_] | None = None,
    ) -> Attempt:
        """The launch on the memory of a layout.

        The bytes of global memory that it reads, writes and updates are set in the rows of ``touched``.
        A block that has taken as much work as its ``patience`` may never end: the launch is given up unless
        ``goes_on``, which is asked once, with the index of the block.
        """
        lowered, core = self.lowered(layout, exact=not detect), library()
        if lowered is None or core is None:
            return Attempt(clean=False, reason=self.refused or "no library")
        if math.prod(launch.block) * max(lowered.local_bytes, self.facts()[1]) > MOST_LOCAL_BYTES:
            return Attempt(clean=False, reason="no-memory")
        warps = math.prod(launch.grid) * -(-math.prod(launch.block) // LANES)
        if warps * WORK_OF_BEGINNING > steps * WORK_UNIT:
            return Attempt(clean=False, reason=OUT_OF_WORK)
        handed = _Handed(self, lowered, launch, layout, detect=detect, budget=steps * WORK_UNIT)
        handed.mark(touched)
        machine = core.core_begin(ctypes.byref(handed.input))
        if not machine:
            return Attempt(clean=False, reason="no-memory")
        result = CoreResult()
        try:
            reason = _given_up(core, machine, result, time_is_up, goes_on)
        finally:
            core.core_end(machine)
        self.patience = SUSPECT_BLOCK if reason == PAUSED else LONG_BLOCK
        return Attempt(clean=False, reason=reason) if reason else self._attempt_of(result, handed)

    def facts(self) -> tuple[int, int]:
        """Bits of a cell's size, and bytes of local memory of a thread."""
        if self._facts is None:
            shift = grain_of(self.module).bit_length() - 1
            self._facts = shift, local_bytes_of(self.module, self.module.function(self.entry))
        return self._facts

    def _attempt_of(self, result: CoreResult, handed: _Handed) -> Attempt:
        if result.status == _TRACK:
            name = handed.names[result.array]
            self.tracked |= {name}
            return Attempt(clean=False, track=name)
        work, ended_work = max(1, result.work // WORK_UNIT), result.ended_work // WORK_UNIT
        if result.status != _ENDED:
            reason = OUT_OF_WORK if result.status == _OUT_OF_WORK else REASONS[result.reason]
            return Attempt(
                clean=False,
                reason=reason,
                work=work,
                ended_blocks=result.ended_blocks,
                ended_work=ended_work,
            )
        counters = Counters(**{item.name: getattr(result, item.name, 0) for item in fields(Counters)})
        executed = frozenset(
            where for op, where in handed.lowered.counted_instructions.items() if handed.executed[op]
        )
        return Attempt(clean=True, work=work, counters=counters, executed=executed)


def _given_up(
    core: ctypes.CDLL,
    machine: int,
    result: CoreResult,
    time_is_up: Callable[[], bool],
    goes_on: Callable[[int], bool],
) -> str:
    """Run a machine to its end; the reason where it is given up before."""
    while (status := core.core_run(machine, SLICE, ctypes.byref(result))) in (_RUNNING, _PAUSED):
        if time_is_up():
            return "time"
        if status == _PAUSED:
            if not goes_on(result.ended_blocks):
                return PAUSED
            core.core_go_on(machine)
    return ""


class _Handed:
    """Input of the core for one launch; the arrays live as long as it runs."""

    def __init__(
        self,
        kernel: NativeKernel,
        lowered: LoweredKernel,
        launch: Launch,
        layout: Layout,
        *,
        detect: bool,
        budget: int,
    ) -> None:
        memory = layout.memory
        shift, local_bytes = kernel.facts()
        self.lowered = lowered
        self.constants = _constants(lowered, layout)
        self.bounds = _bounds(lowered, layout)
        self.names = [allocation.name for allocation in memory.allocations]
        self.arrays = _arrays(layout, kernel.tracked)
        self.executed = np.zeros(len(lowered.ops), np.uint8)
        specials = [lowered.specials.get(name, NONE) for name in SPECIALS]
        self.input = LaunchInput(
            ops=lowered.ops.ctypes.data,
            op_count=len(lowered.ops),
            executed=self.executed.ctypes.data,
            constants=self.constants.ctypes.data,
            bounds=self.bounds.ctypes.data,
            arrays=self.arrays.ctypes.data,
            array_count=len(self.arrays),
            global_bytes=memory.bytes.ctypes.data,
            global_set=memory.initialised.ctypes.data if detect and memory.initialised is not None else None,
            global_base=memory.base,
            shared_window=memory.space.windows["shared"],
            local_window=memory.space.windows["local"],
            grid=(ctypes.c_uint32 * 3)(*launch.grid),
            block=(ctypes.c_uint32 * 3)(*launch.block),
            register_bytes=lowered.register_bytes,
            shared_bytes=layout.shared_bytes,
            local_bytes=max(local_bytes, lowered.local_bytes),
            special=(ctypes.c_uint32 * 32)(*specials, *[NONE] * (32 - len(specials))),
            detect=detect,
            grain_shift=shift,
            budget=budget,
            patience=kernel.patience * WORK_UNIT,
        )

    def mark(self, touched: NDArray[np.bool_] | None) -> None:
        """Have the bytes that are read, written and updated set in three rows."""
        if touched is not None:
            self.touched = touched
            self.input.touched, self.input.touched_bytes = touched.ctypes.data, touched.shape[1]


def _constants(lowered: LoweredKernel, layout: Layout) -> NDArray[np.uint8]:
    constants = lowered.constants.copy()
    for constant in lowered.launch_constants:
        content = _content(constant, layout)
        constants[constant.offset : constant.offset + constant.width * LANES] = np.frombuffer(
            content * LANES, np.uint8
        )
    return constants


def _content(constant: LaunchConstant, layout: Layout) -> bytes:
    if constant.window:
        return int(layout.memory.space.windows[constant.window]).to_bytes(8, "little")
    kind, own = constant.kind.split(":")
    dtype = DTYPES[kind]
    value = piece_of(dict(layout.parameters.get(constant.parameter, {})), constant.at, dtype)
    number = np.asarray(0 if value is None else value, dtype)
    if dtype.itemsize < int(own) and dtype.kind in "iu":
        number = number.astype(f"{dtype.kind}{own}")
    return number.tobytes().ljust(constant.width, b"\0")


def _bounds(lowered: LoweredKernel, layout: Layout) -> NDArray[np.void]:
    all_bounds = Bounds(lowered.program, layout)
    rows = np.zeros(max(1, len(lowered.local_starts)), BOUND)
    for site, frame in enumerate(lowered.local_starts):
        bound = all_bounds[site]
        if bound is not None:
            more = frame if bound.space == "local" else 0
            rows[site] = (bound.low + more, bound.high + more, 1, _SPACES[bound.space])
    return rows


def _arrays(layout: Layout, tracked: frozenset[str]) -> NDArray[np.void]:
    memory = layout.memory
    rows = np.zeros(max(1, len(memory.allocations)), ARRAY)
    for row, allocation in zip(rows, memory.allocations, strict=False):
        row["start"], row["end"], row["constant"] = allocation.start, allocation.end, allocation.constant
        row["filled"], row["tracked"] = memory.is_filled(allocation), allocation.name in tracked
    return rows[: len(memory.allocations)]
