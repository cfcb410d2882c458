"""What grades a class is on trial while the first submissions are prepared."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from grader.gpu import fitness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.backends import Backend
    from grader.gpu.devices import Gpu


def passed() -> Future[None]:
    """A trial that is over."""
    over: Future[None] = Future()
    over.set_result(None)
    return over


@contextmanager
def on_trial(backend: Backend, trial: Callable[[], Backend] | None) -> Iterator[tuple[Backend, Future[None]]]:
    """The backend, which uses no GPU before its trial is over, and what raises whatever the ``trial`` raises.

    ``trial`` gives the backend with those GPUs that passed. Where there is none, or no GPU, nothing is
    waited for.
    """
    if backend.pool is None or trial is None:
        yield backend, passed()
        return
    with fitness.undecided() as undecided, ThreadPoolExecutor(1) as beside:
        yield backend.awaiting(undecided.path), beside.submit(_decide, undecided, trial)


def _decide(undecided: fitness.Undecided, trial: Callable[[], Backend]) -> None:
    fit: tuple[Gpu, ...] = ()
    try:
        pool = trial().pool
        fit = pool.gpus if pool else ()
    finally:
        undecided.decide(fit)
