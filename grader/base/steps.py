"""Step that is being done right now, reported to listeners that show it during a wait.

The stages say when they begin something; listeners are optional. What is said is no evidence: it is lost
where a stage works in another process.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Literal, TypeAlias

from grader.base.records import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Stage: TypeAlias = Literal["build", "case", "staff-code", "judge"]


@frozen
class Step:
    """A piece of work that begins; of a case its id, its ``number`` from 1, and how many there are.

    Staff's code is reported only where it takes long: ``code`` is its name.
    """

    stage: Stage
    case: str = ""
    number: int = 0
    total: int = 0
    code: str = ""


_listener: ContextVar[Callable[[Step], None] | None] = ContextVar("listener", default=None)


def begin(step: Step) -> None:
    """Say that a step begins, and so that the one before it is done."""
    listener = _listener.get()
    if listener is not None:
        listener(step)


@contextmanager
def reporting_to(listener: Callable[[Step], None]) -> Iterator[None]:
    """Within, each step is reported to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
