"""Test whether the right arrays in a program's files come from its kernels or from the host.

    graded run ─logged▶ what came back, replayed without kernels▶ what kernels made of it
        elements of the file among that ▶ the kernels', unless the host had sent them before
        else: runs that get altered results ▶ elements that stay as they were are the host's

A program makes its inputs itself, so that it cannot be called with others. Elements that came back from
kernels, or that change with what does, are no sign of the host; where neither is known, staff are asked.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from grader.base.errors import log_swallowed
from grader.base.records import frozen, mutable
from grader.kinds.attempts.altering import (
    FULLY,
    SIZES,
    SIZES_OF_DOUBLES,
    SLIGHTLY,
    WIDELY,
    Alteration,
    Altering,
)
from grader.kinds.comparing.arrays import right_files
from grader.kinds.host_runs.further_runs import further_seconds, run_further
from grader.kinds.host_runs.on_emulator import EmulatedDevice
from grader.kinds.host_runs.too_large import STEPS_A_SECOND
from grader.kinds.program.made_by_kernels import Returned, come_in_order, missing, returned
from grader.kinds.program.sent_results import FEW, SentResults, are_few
from grader.model import UNKNOWN_AUTHOR, Clause
from grader.running.device.call_log import MOST_BYTES, CallLog, replayed
from grader.running.device.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from grader.grading.oracle import Oracle
    from grader.kinds.comparing.arrays import RightFile
    from grader.kinds.host_runs.running import Given, Task
    from grader.kinds.plan import Plan
    from grader.model import Build, Case, CaseEvidence, Finding, ProgramRun, Submission
    from grader.running.device.call_log import LoggedRequest
    from grader.running.device.device import Device, Notes
    from grader.toolchain.nvcc import Tools

    Array = NDArray[Any]
    Bytes = NDArray[np.uint8]
    Mask = NDArray[np.bool_]

_SEARCH_FAILED = Clause("not-asked-who-computes")

_MOST_CHANGED = 0.5
"""Share of the elements that one altered word may change where the host finishes results."""

_ELEMENTS_A_BYTE = 16
"""Elements that a byte from kernels can hold at most, were it only half a bit of each."""

_FEW_ELEMENTS = 16
"""Elements of an array below which one word may change all of them."""

_ALTERATIONS = tuple(
    Alteration(bits, number) for number, bits in enumerate((WIDELY, FULLY, SLIGHTLY, SLIGHTLY, WIDELY))
)
_OF_ONE_WORD = tuple(Alteration(FULLY, number, at) for number, at in enumerate((0.13, 0.46, 0.79)))

_SLIGHT, _SLIGHT_OF_DOUBLES = (
    tuple(Alteration(bits, len(_ALTERATIONS) + number) for number, bits in enumerate(sizes))
    for sizes in (SIZES, SIZES_OF_DOUBLES)
)
_ZEROS, _ONES = (Alteration(SLIGHTLY, constant=word) for word in (0, 0x3F800000))
_DISTINCT = 0.125
"""Share of an array's elements that may be different numbers where all that comes back is one number."""

_JUMP = 0.1
"""Change of an element, as a share of the largest, that no slight change of numbers explains."""

_WORK_TIMES, _WORK_MORE = 4, 20_000
"""Most work that launches may take in a replay with other words: a multiple of what they took, and more."""


@frozen(eq=False)
class LoggedRun:
    """A run on an emulated device, and what the program asked of it."""

    run: ProgramRun
    entries: tuple[LoggedRequest, ...]
    is_whole: bool = True
    """False if the program asked for more than is kept: then there are no entries."""


def _up_to_last_back(entries: Sequence[LoggedRequest]) -> tuple[LoggedRequest, ...]:
    """The requests without those that nothing comes back after: a launch there may have been given up."""
    numbers = [number for number, entry in enumerate(entries) if entry.goes_out]
    return tuple(entries[: numbers[-1] + 1]) if numbers else ()


@mutable
class LoggingTask:
    """A task whose runs on an emulated device are logged, by case; ``recorder`` may alter what they get."""

    task: Task
    recorder: Callable[[Device], Notes] | None = None
    logs: dict[str, LoggedRun] = field(default_factory=dict)
    _room: int = MOST_BYTES
    _open: dict[str, CallLog] = field(default_factory=dict)

    def given(self, case: Case, device: EmulatedDevice | None) -> Given:
        """Inputs of the program's run."""
        if device is not None and self.recorder is not None:
            device.device.recorders.append(self.recorder(device.device))
        elif device is not None:
            self._open[case.id] = log = CallLog(device.device.memory)
            log.room = self._room
            device.device.recorders.append(log)
        return self.task.given(case, device)

    def judged(
        self, case: Case, run: ProgramRun, findings: tuple[Finding, ...], device: EmulatedDevice | None
    ) -> CaseEvidence:
        """Evidence from the results of a run."""
        log = self._open.pop(case.id, None)
        if log is not None:
            self._room = log.room if log.is_whole else self._room
            self.logs[case.id] = LoggedRun(run, _up_to_last_back(log.entries), log.is_whole)
        return self.task.judged(case, run, findings, device)


@frozen
class FileOrigins:
    """Test of the files of one submission's graded cases."""

    plan: Plan
    submission: Submission
    built: Build
    tools: Tools
    task: Task
    oracle: Oracle | None

    def with_origins(self, case: CaseEvidence, log: LoggedRun | None) -> CaseEvidence:
        """The case, marked where the host has computed a right array of a file, or may have."""
        if log is None or not case.launches or case.error:
            return case
        try:
            for file in right_files(self.plan.assignment, case.case, log.run, self.oracle):
                log = log if log.is_whole else self._log_alone(case) or log
                sign = _ArrayOriginSearch(self, case, file, log).sign()
                if sign is not None and case.too_much_work:  # launches that did not run may have made it
                    return replace(case, computed_by=UNKNOWN_AUTHOR)
                if sign is not None:
                    return replace(case, of_host=sign is not UNKNOWN_AUTHOR, computed_by=sign)
        except MemoryError:  # a program may have taken it
            return replace(case, computed_by=UNKNOWN_AUTHOR)
        except Exception:  # noqa: BLE001 - our failure accuses no student, and staff are asked
            log_swallowed("asking whether the host has computed what a program wrote")
            return replace(case, computed_by=_SEARCH_FAILED)
        return case

    def _log_alone(self, case: CaseEvidence) -> LoggedRun | None:
        """Another run of a case, with all the room for its log; None where it fails on our side."""
        task = LoggingTask(self.task)
        self._further(case, task, Observation(count_only=True))
        return task.logs.get(case.case.id)

    def run_with(
        self, case: CaseEvidence, alteration: Alteration, masks: Sequence[Mask]
    ) -> ProgramRun | None:
        """A run of the program that gets altered results; None where it fails on our side."""
        task = LoggingTask(self.task, lambda _: Altering(alteration, masks))
        return self._further(case, task, Observation(count_only=True))

    def run_without_kernels(self, case: CaseEvidence) -> ProgramRun | None:
        """A run of the program in which no kernel runs; None where it fails on our side."""
        return self._further(case, self.task, Observation(count_only=True, idle=True))

    def _further(self, case: CaseEvidence, task: Task, observation: Observation) -> ProgramRun | None:
        """A run of the program in the case of a graded one."""
        program = self.plan.assignment.program
        limits = replace(program, seconds=further_seconds(case, program))
        (further,) = run_further(
            self.plan, self.submission, self.built, self.tools, task, (case.case,), limits, observation
        )
        return further.program

    def bytes_back(
        self, entries: Sequence[LoggedRequest], *, marks_stores: bool = False
    ) -> tuple[list[Returned], int]:
        """Bytes that came back in the graded run, and which of them kernels have made; the launches' work."""
        with closing(self._device(marks_stores=marks_stores)) as device:
            return returned(device.device, entries), sum(launched.run.work for launched in device.runs)

    def replay(self, entries: Sequence[LoggedRequest], most: int) -> list[bytes] | None:
        """Bytes that come back where requests are made again without the program; None if that fails.

        So where launches take more than the ``most`` work.
        """
        back = list[bytes]()
        with closing(self._device(most)) as device:
            return back if replayed(device.device, entries, back) else None

    def _device(self, most: int | None = None, *, marks_stores: bool = False) -> EmulatedDevice:
        program = self.plan.assignment.program
        observation = Observation(count_only=True, marks_stores=marks_stores)
        work = int(program.emulator_seconds * STEPS_A_SECOND)
        work = work if most is None else min(work, most)
        return EmulatedDevice(self.built, self.submission.file, "", program.device_bytes, work, observation)


@frozen
class _ArrayOriginSearch:
    """Search for the origin of one array in a case: kernels or host."""

    origins: FileOrigins
    case: CaseEvidence
    file: RightFile
    log: LoggedRun

    def sign(self) -> Clause | None:
        """Sign that the host has computed the array; None where its kernels have.

        What launches change is mostly all that they store: only a doubt asks for the stores themselves.
        """
        if not self.log.is_whole:
            return self._sign_without_log()
        doubt = self._sign_in(*self.origins.bytes_back(self.log.entries))
        if doubt is None:
            return None
        return self._sign_in(*self.origins.bytes_back(self.log.entries, marks_stores=True))

    def _sign_without_log(self) -> Clause:
        """Sign that the host has computed the array: it is there where no kernel runs. Else it is unknown."""
        run = self.origins.run_without_kernels(self.case)
        other = None if run is None else self.file.read(run)
        is_there = other is not None and np.array_equal(other, self.file.values)
        return Clause("right-without-kernels") if is_there else UNKNOWN_AUTHOR

    def _sign_in(self, back: Sequence[Returned], work: int) -> Clause | None:
        """The same where it is known what kernels have made of what came back, by how much work."""
        absent = missing(self._values, back)
        comes_back = are_few(absent, self._values)
        if not any(one.by_kernels.any() for one in back):
            return None if comes_back else Clause("nothing-from-device")
        masks = [one.by_kernels for one in back]
        if not comes_back and sum(map(np.count_nonzero, masks)) < self._values.size // _ELEMENTS_A_BYTE:
            return Clause("nothing-computed-comes-back")
        unchanged, trials = self._unchanged_elements(masks)
        if not are_few(unchanged, self._values):
            return self._sign_where_elements_stay(unchanged, absent, trials, comes_back=comes_back)
        return self._sign_where_all_change(back, _WORK_TIMES * work + _WORK_MORE, comes_back=comes_back)

    @property
    def _values(self) -> Array:
        return self.file.values.reshape(-1)

    def _unchanged_elements(self, masks: Sequence[Mask]) -> tuple[Mask, list[Alteration]]:
        """Mask of the elements that no trial changes, and the trials in which the file was written.

        Trials end once so few stay that the rest does not matter.
        """
        unchanged, trials = np.ones(self._values.size, np.bool_), list[Alteration]()
        for alteration in _ALTERATIONS:
            other = self._array_with(alteration, masks)
            if other is not None:
                unchanged &= other == self._values
                trials.append(alteration)
                if are_few(unchanged, self._values):
                    break
        return unchanged, trials

    def _sign_where_elements_stay(
        self, unchanged: Mask, absent: Mask, trials: Sequence[Alteration], *, comes_back: bool
    ) -> Clause | None:
        """Answer where elements stay as they were, whatever comes back.

        A program may repair wrong results of its device, or end where they are wrong.
        """
        if comes_back:
            return UNKNOWN_AUTHOR if trials else None
        is_large = any(trial.bits is not SLIGHTLY for trial in trials)
        rest = int(np.count_nonzero(unchanged & absent))
        if not is_large or are_few(unchanged & absent, self._values):
            return UNKNOWN_AUTHOR
        elements = self._values.size
        return Clause("rest-from-host", (("from_device", elements - rest), ("elements", elements)))

    def _sign_where_all_change(
        self, back: Sequence[Returned], work: int, *, comes_back: bool
    ) -> Clause | None:
        """Answer where the array changes with what comes back; ``work`` is the most of a replay."""
        entries, inputs = self.log.entries, self.file.inputs
        replay = partial(self.origins.replay, most=work)
        sent = SentResults(entries, back, self._values, inputs, self.file.shape, replay)
        if comes_back and sent.has_elements():
            return Clause("host-sends-result")
        if comes_back and self._only_moves() and not come_in_order(self._values, back):
            return Clause("host-moves-elements")
        if comes_back and (sign := self._sign_of_no_inputs(sent)) is not None:
            return sign
        if sent.has_other_words() or self._kernels_read_little():
            return UNKNOWN_AUTHOR
        masks = [one.by_kernels for one in back]
        finishes = comes_back or (self._is_local(masks) and self._follows_slightly(masks))
        return None if finishes else UNKNOWN_AUTHOR

    def _only_moves(self) -> bool:
        """True if the array is an input in another order: to compute it is to move its elements."""
        inputs = [array.reshape(-1) for array in self.file.inputs.values()]
        of_one = (own for own in inputs if np.array_equal(np.sort(own), np.sort(self._values)))
        return any(not np.array_equal(own, self._values) for own in of_one)

    def _sign_of_no_inputs(self, sent: SentResults) -> Clause | None:
        """Sign that kernels have made the array without the inputs; None where there is none."""
        independent = sent.independent_elements()
        if independent is None:
            return UNKNOWN_AUTHOR if sent.may_be_in_parameters() else None
        if are_few(independent, self._values):
            return None
        return Clause("nothing-computed-comes-back") if independent.all() else UNKNOWN_AUTHOR

    def _kernels_read_little(self) -> bool:
        """True if kernels load few of the inputs, and do few of the operations that the result takes."""
        work = self.origins.oracle.work if self.origins.oracle else None
        needed = int(work(dict(self.file.shape)).get("flops") or 0) if work else 0
        size = sum(array.size for array in self.file.inputs.values())
        counters = self.case.counters
        return counters.flops < FEW * needed and counters.global_load_bytes < FEW * size

    def _is_local(self, masks: Sequence[Mask]) -> bool:
        """True if one word changes a part of the array; a program that checks for a signal changes it all."""
        if self._values.size < _FEW_ELEMENTS:
            return True
        arrays = [self._array_with(alteration, masks) for alteration in _OF_ONE_WORD]
        shares = [np.mean(array != self._values) for array in arrays if array is not None]
        return not shares or min(shares) <= _MOST_CHANGED

    def _follows_slightly(self, masks: Sequence[Mask]) -> bool:
        """True if slightly other results make a slightly other array, whatever their size, and zeros none.

        Where each stands for a number of the host's, another one stands for none, and the array jumps once
        they are so far off that the host does not know them again. Where the host adds what has come to its
        own, its own is left where zeros come; where it multiplies its own, that is left where ones come.
        """
        if self._values.dtype.kind != "f":
            return True
        if self._jumps_by(_SLIGHT, masks) and self._jumps_by(_SLIGHT_OF_DOUBLES, masks):
            return False
        of_zeros, of_ones = (self._array_with(alteration, masks) for alteration in (_ZEROS, _ONES))
        if (
            of_zeros is not None
            and np.unique(of_zeros, return_counts=True)[1].max() < _MOST_CHANGED * of_zeros.size
        ):
            return False
        most = min(_DISTINCT * self._values.size, np.unique(self._values).size / 2)
        return of_ones is None or np.unique(of_ones).size <= max(2, most)

    def _jumps_by(self, alterations: Sequence[Alteration], masks: Sequence[Mask]) -> bool:
        nearby = (self._array_with(alteration, masks) for alteration in alterations)
        return any(other is not None and self._jumps(other) for other in nearby)

    def _jumps(self, other: Array) -> bool:
        """True if most elements are far off."""
        with np.errstate(all="ignore"):
            jumps = np.abs(other - self._values) > _JUMP * np.abs(self._values).max(initial=0)
        return bool(np.mean(jumps) > _MOST_CHANGED)

    def _array_with(self, alteration: Alteration, masks: Sequence[Mask]) -> Array | None:
        """The array in the file of a run that gets altered results; None where there is none."""
        run = self.origins.run_with(self.case, alteration, masks)
        values = None if run is None else self.file.read(run)
        return None if values is None else values.reshape(-1)
