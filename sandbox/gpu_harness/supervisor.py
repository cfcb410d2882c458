"""Mode "run": processes of ours work on the device, and one that never touches it looks after them.

A fault takes the context of its process along, so the next case gets a new process; a kernel that hangs is
killed with its process. After that the device is asked whether it is well, and if not, nothing more is tried.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from child_process import Child
from slots import Slot, slot
from tasks import is_still_fit, probe, run_cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from child_process import Send
    from results import Results
    from tasks import Job

Ending: TypeAlias = Literal["over", "died", "hung", "silent", "late"]
"""A child came to its end; died; its kernel took too long; it said nothing; the time for all is over."""

POLL = 0.02
TRIES = 2
"""Attempts at a case whose process dies without a word: the first time it may have been our fault."""


@dataclass
class _Limits:
    """Seconds for a kernel, for our own steps, and the end of everything on the monotonic clock."""

    kernel: float
    silence: float
    end: float


class Supervisor:
    """Works off the cases of a job, then its timing."""

    def __init__(self, job: Job, results: Results, end: float) -> None:
        self._job, self._results, self._end = job, results, end
        self._pending = list(range(len(job.cases)))
        self._lost = dict.fromkeys(self._pending, 0)
        self._lost_at_start = 0
        self._current: int | None = None
        self._case_seconds = job.seconds("case")
        self._in_kernels, self._hung = 0.0, False
        self._broken, self._raised = "", False
        self._probed = ""
        self._begun, self._timing_since = time.monotonic(), 0.0
        self._may_time = True

    def run(self) -> None:
        """Everything; ``result.json`` is complete when this returns.

        The slot is held from process to process, so that a submission waits for it once.
        """
        results = self._results
        results.write()
        with slot(self._job.request["slots"]) as held:
            self._note_wait(held)
            while self._goes_on():
                self._after(self._run_child(held))
                results.write()
        self._note_seconds()
        results.write()

    def _note_wait(self, held: Slot) -> None:
        """The time for everything begins with the slot: waiting for it does not count."""
        self._results.seconds["slot"] = held.waited
        self._end += held.waited
        self._begun += held.waited

    def _note_seconds(self) -> None:
        if self._timing_since:
            self._results.seconds["timing"] = time.monotonic() - self._timing_since
        self._results.seconds["cases"] = (self._timing_since or time.monotonic()) - self._begun

    def _goes_on(self) -> bool:
        """True if there is work left, and a device and a harness that are fit for it."""
        is_well = self._results.health == "ok" and not self._results.error
        return self._is_work_left() and is_well and not self._enough()

    def _is_work_left(self) -> bool:
        return bool(self._pending) or self._is_to_be_timed()

    def _is_to_be_timed(self) -> bool:
        """True if the timing is next: every case came to its end, and nothing was wrong."""
        results = self._results
        asked = bool(self._job.request.get("timing")) and results.timing is None
        return asked and not self._pending and results.all_done()

    def _run_child(self, held: Slot) -> Ending:
        """One child on all that is left: the cases, and in the same context, if it is fit, the timing."""
        self._current = None
        pending = tuple(self._pending)
        self._may_time = may_time = self._results.all_done(besides=pending)
        limits = _Limits(self._case_seconds, self._case_seconds + self._job.seconds("probe"), self._end)
        self._note_timing(limits)

        def work(send: Send) -> None:
            if run_cases(self._job, pending, send, may_time=may_time):
                held.release()  # ending a context takes long, and needs no slot

        return self._supervise(work, limits)

    def _note_timing(self, limits: _Limits) -> None:
        """Wait for a lock where the child goes on to the timing, as long as there is time."""
        if self._may_time and self._is_to_be_timed():
            self._timing_since = time.monotonic()
            limits.silence = inf

    def _after(self, ending: Ending) -> None:
        if self._timing_since:
            self._after_timing(ending)
        else:
            self._after_cases(ending)

    def _enough(self) -> bool:
        """True if a case hung, and nothing else is asked for: everything will be done again, alone."""
        return bool(self._job.request["stop_at_hang"]) and self._hung

    def _after_cases(self, ending: Ending) -> None:
        at = self._current
        if ending == "hung" and at is not None:
            self._timed_out(at)
        elif ending == "late":
            self._too_late(at)
        elif ending != "over" or at is not None:
            self._died(at)
        if ending != "over":
            self._check_health()

    def _timed_out(self, at: int) -> None:
        message = f"the kernel did not end within {self._case_seconds:g} s"
        self._finish(at, {"state": "timeout", "message": message, "seconds": self._case_seconds})
        self._case_seconds, self._hung = self._job.seconds("after_timeout"), True

    def _died(self, at: int | None) -> None:
        """The child ended without a word of its case, or before it came to one."""
        if at is None:
            self._lost_at_start += 1
            if self._lost_at_start == TRIES:
                self._results.error = f"no process could use the device: {self._broken}"
            return
        self._lost[at] += 1
        if self._lost[at] == TRIES:
            self._finish(at, {"state": "lost", "message": f"twice: {self._broken}"})
            if self._raised:
                self._results.error = f"case {self._job.cases[at]['name']}: {self._broken}"

    def _too_late(self, at: int | None) -> None:
        """The time for all is over: by the kernels, or else the student has not to answer for it."""
        busy = self._job.watch.busy_seconds()
        by_kernels = self._in_kernels + busy > self._job.seconds("total") / 2
        for index in tuple(self._pending):
            if index == at and busy:
                state, message = "timeout", f"the kernel had run for {busy:.1f} s when all time was used up"
            else:
                state, message = "timeout" if by_kernels else "lost", "not begun: all time was used up"
                self._results.begin(index, self._job.cases[index]["name"])
            self._finish(index, {"state": state, "message": message})

    def _finish(self, at: int, record: dict[str, Any]) -> None:
        self._results.add(at, record)
        self._pending.remove(at)
        self._in_kernels += record.get("seconds", 0.0)
        self._current = None

    # timing and health

    def _after_timing(self, ending: Ending) -> None:
        if self._results.timing is None:
            why = {
                "hung": f"timeout: a timed launch did not end within {self._case_seconds:g} s",
                "late": "lost: the time for all was over before the timing was",
            }.get(ending, f"lost: {self._broken}")
            self._results.timing = {"stopped": "fault", "fault": why}
        if ending != "over" or self._results.timing.get("stopped") == "fault":
            self._check_health()

    def _check_health(self) -> None:
        """Ask the device, in a new process, whether it still computes; it always gets its full time."""
        if self._results.health != "ok":
            return
        self._probed = "the device did not answer"
        seconds = self._job.seconds("probe")
        limits = _Limits(seconds, seconds, time.monotonic() + seconds)
        self._supervise(lambda send: probe(self._job, send), limits)
        if self._raised:
            self._results.error = f"the device cannot be asked whether it is well: {self._broken}"
        elif self._probed and self._results.health == "ok":
            self._results.health = f"sick: {self._probed}"

    # processes

    def _supervise(self, work: Callable[[Send], None], limits: _Limits) -> Ending:
        """Fork a child that does ``work``, listen to it, and end it where it takes too long."""
        self._job.watch.end()
        self._broken, self._raised = "its process ended without a word", False
        child = Child(work)
        ending = self._listen(child, limits)
        if ending != "over":
            child.kill()
        status = child.reap(self._job.seconds("probe"))
        if status is None:
            self._results.health = "sick: a process that had used the device could not be ended"
        elif ending == "over" and status:
            ending = "died"
            self._broken += f" (signal {-status})" if status < 0 else ""
        return ending

    def _listen(self, child: Child, limits: _Limits) -> Ending:
        last_message = time.monotonic()
        while True:
            messages = child.receive(POLL)
            if messages is None:
                return "over"
            for kind, value in messages:
                getattr(self, f"_on_{kind}")(value)
                if kind == "end":
                    self._note_timing(limits)
            now = time.monotonic()
            last_message = now if messages else last_message
            if self._job.watch.busy_seconds() > limits.kernel:
                return "hung"
            if now > limits.end:
                return "late"
            if now - last_message > limits.silence:
                self._broken = f"its process said nothing for {limits.silence:g} s"
                return "silent"

    def _on_device(self, value: list[Any]) -> None:
        self._results.device = value[0]
        self._results.seconds.setdefault("context", value[1])

    def _on_resources(self, value: dict[str, Any]) -> None:
        self._results.resources = value

    def _on_begin(self, at: int) -> None:
        self._current = at
        self._results.begin(at, self._job.cases[at]["name"])
        self._results.write()

    def _on_places(self, places: dict[str, list[int]]) -> None:
        if self._current is not None:
            self._results.add(self._current, {"places": places})

    def _on_end(self, record: dict[str, Any]) -> None:
        if self._current is not None:
            self._may_time = self._may_time and is_still_fit(record)
            self._finish(self._current, record)
            self._results.write()

    def _on_timing(self, answer: dict[str, Any]) -> None:
        self._results.timing = answer

    def _on_probed(self, outcome: str) -> None:
        self._probed = outcome

    def _on_broken(self, words: list[str]) -> None:
        self._broken, self._raised = f"{words[0]}: {words[1]}", True
