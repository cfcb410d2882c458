"""What is being done right now, said to whoever shows it to somebody who waits.

The stages say when they begin something; nobody has to listen. What is said is no evidence: it is lost
where a stage works in another process.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Stage: TypeAlias = Literal["build", "case", "staff-code", "judge"]


@dataclass(frozen=True, slots=True)
class Step:
    """A piece of work that begins; of a case its id, its ``number`` from 1, and how many there are.

    Staff's code is only told of where it takes long: ``code`` says what it is called.
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
def heard_by(listener: Callable[[Step], None]) -> Iterator[None]:
    """Within, each step is told to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
