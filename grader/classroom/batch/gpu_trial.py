"""Trial of the backend that grades a class, while the first submissions are prepared."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from grader.toolchain.gpu import fitness
from grader.toolchain.sandbox.stopping import file_to_stop_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from grader.running.backends import Backend
    from grader.toolchain.gpu.devices import Gpu


def passed() -> None:
    """Waits for a trial that is over."""


@contextmanager
def on_trial(
    backend: Backend, trial: Callable[[Path], Backend] | None
) -> Iterator[tuple[Backend, Callable[[], None]]]:
    """The backend, which uses no GPU before its trial is over, and what waits for that.

    ``trial`` gives the backend with those GPUs that passed, and its exceptions are raised to the caller that
    waits. Its jobs end once the file is there that it is given: stopping a class makes it, and does not wait
    for them. Where there is no trial, or no GPU, nothing is waited for.
    """
    if backend.pool is None or trial is None:
        yield backend, passed
        return
    with fitness.undecided() as undecided, file_to_stop_by() as stop_file, ThreadPoolExecutor(1) as beside:
        tried = beside.submit(_decide, undecided, partial(trial, stop_file))
        try:
            yield backend.awaiting(undecided.path), partial(_wait, tried, undecided)
        except BaseException:
            stop_file.touch()
            raise


def _wait(tried: Future[None], undecided: fitness.Undecided) -> None:
    try:
        tried.result()
    except BaseException:  # stopping a class waits for no submission that only begins then
        undecided.decide(())
        raise


def _decide(undecided: fitness.Undecided, trial: Callable[[], Backend]) -> None:
    fit: tuple[Gpu, ...] = ()
    try:
        pool = trial().pool
        fit = pool.gpus if pool else ()
    finally:
        undecided.decide(fit)
