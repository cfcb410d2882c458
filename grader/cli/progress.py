"""Progress shown during a wait: the steps of a check, and how far a batch has come."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from grader.base import steps
from grader.base.text import count, one_line
from grader.cli import setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, TaskID

    from grader.base.steps import Step
    from grader.model import Grade

_MOST_STEPS = 6
"""Steps that are done and still shown."""


@contextmanager
def of_check() -> Iterator[None]:
    """Within, show on a terminal each step as it is done, and what is waited for; nothing stays behind."""
    screen = setup.console(stderr=True)
    if not setup.is_watched(screen):
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - for a terminal

    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=screen, transient=True) as shown:
        listener = _Steps(shown)
        listener.begin("compiling")
        with steps.reporting_to(listener.hear):
            yield


class _Steps:
    """Steps on a terminal: those that are done, and the one that is not."""

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._tasks: list[TaskID] = []

    def hear(self, step: Step) -> None:
        self.begin(in_words(step))

    def begin(self, words: str) -> None:
        if self._tasks:
            self._shown.update(self._tasks[-1], total=1, completed=1)
        self._tasks.append(self._shown.add_task(words, total=None))
        if len(self._tasks) > _MOST_STEPS:
            self._shown.remove_task(self._tasks.pop(0))


def in_words(step: Step) -> str:
    """Name of a step while it lasts."""
    if step.stage == "case":
        return f"case {one_line(step.case, 60)} ({step.number} of {step.total})"
    if step.stage == "staff-code":
        return f"waiting for {one_line(step.code, 200)}"
    return {"build": "compiling", "judge": "judging"}[step.stage]


MINUTE, _HOUR = 60, 3600


class BatchLog:
    """Lines about a batch: one every ``every`` seconds with the time left, and one per student on request.

    With ``every`` 0 a bar on the terminal says the former. The time comes from the submissions so far.
    """

    def __init__(
        self, total: int, say: Callable[[str], None], *, verbose: bool = False, every: float = MINUTE
    ) -> None:
        self._total, self._say, self._verbose, self._every = total, say, verbose, every
        self._done = 0
        self._began = time.monotonic()
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        if self._every:
            self._clock.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._every:
            self._clock.join()

    def add(self, grade: Grade) -> None:
        """Take in a grade that is finished."""
        self._done += 1
        if self._verbose:
            from grader.reports import class_table  # noqa: PLC0415 - a check has no table

            note = class_table.note(grade)
            score = class_table.score_of(grade)
            self._say(f"{one_line(grade.submission_id)}: {score}{f', {note}' if note else ''}")

    def _tick(self) -> None:
        while not self._over.wait(self._every):
            self._say(how_far(self._done, self._total, time.monotonic() - self._began))


def how_far(done: int, total: int, seconds: float) -> str:
    """`graded 12 of 300 in 2 minutes; about 48 minutes left`."""
    left = f"; about {_duration(seconds / done * (total - done))} left" if done else ""
    return f"graded {done} of {total} in {_duration(seconds)}{left}"


def _duration(seconds: float) -> str:
    """`2 minutes`, `1 hour 5 minutes`; never less than a minute."""
    hours, minutes = divmod(max(1, round(seconds / MINUTE)), _HOUR // MINUTE)
    parts = [count(hours, "hour") if hours else "", count(minutes, "minute") if minutes else ""]
    return " ".join(filter(None, parts))
