"""The staff's own Python code, such as an oracle: how it is loaded, and run so that it ends.

It is trusted, and runs in this process. A call that has taken long is reported to listeners
(`grader.base.steps`), and one that does not end is stopped. What the code prints goes to standard error:
standard output may be JSON.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING

from grader.base.errors import OurError, UsageError
from grader.base.steps import Step, begin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType
    from typing import NoReturn

SECONDS = 120.0
"""Wall time that one call may take. For a case an oracle takes milliseconds; the matrices that are timed on a
GPU take some seconds, and more where the processes of a class share the cores."""

SAID_AFTER = 10.0
"""Seconds after which it is said that a call has not come back yet."""

GRACE = 5.0
"""Seconds after which code that catches what stops it, and goes on, is ended with its process."""

_LEAST = 0.001
"""A timer of 0 seconds would be none."""

_one_at_a_time = threading.RLock()
"""Two threads that redirect what is printed would restore it in the wrong order."""


def _say_why(sentence: str) -> None:
    sys.stderr.write(f"grader: {sentence}\n")
    sys.stderr.flush()


_last_words: ContextVar[Callable[[str], object]] = ContextVar("last_words", default=_say_why)
"""Listener that receives the reason why the process ends."""


class TookTooLongError(BaseException):
    """The code was stopped: it is no Exception, so that code which catches all of those does not go on."""


@contextmanager
def running(code: str, seconds: float | None = None) -> Iterator[None]:
    """Within, the staff's code runs, which ``code`` names to listeners.

    Raises:
        TookTooLongError: it took more than ``seconds``, or `SECONDS`. Off the main thread it is not stopped.

    """
    limit = SECONDS if seconds is None else seconds
    with _one_at_a_time, redirect_stdout(sys.stderr), _stopped_after(limit, code):
        yield


@contextmanager
def _stopped_after(seconds: float, code: str) -> Iterator[None]:
    """Say once that the block takes long; raise TookTooLongError in it after ``seconds``.

    Where the block catches that and goes on, the process ends.
    """
    of_caller, _ = signal.getitimer(signal.ITIMER_REAL)
    if threading.current_thread() is not threading.main_thread() or 0 < of_caller <= seconds:
        yield  # signals reach the main thread alone; and our caller may stop sooner
        return
    first = min(SAID_AFTER, seconds / 2)
    waits = [seconds - first, GRACE]

    def alarm(_number: int, _frame: object) -> None:
        if not waits:
            _end_process(code, seconds)
        signal.setitimer(signal.ITIMER_REAL, waits.pop(0))
        if waits:
            begin(Step("staff-code", code=code))
        else:
            raise TookTooLongError

    began, before = time.monotonic(), signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, first)
    try:
        yield
        if not waits:  # the code caught what stopped it, and made up an answer
            raise TookTooLongError
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if of_caller:
            signal.setitimer(signal.ITIMER_REAL, max(_LEAST, of_caller - (time.monotonic() - began)))


def _end_process(code: str, seconds: float) -> NoReturn:
    """End the process, for nothing else ends code that catches every exception; says first why."""
    try:
        _last_words.get()(
            f"{code} was stopped after {seconds:.0f} seconds and went on, for it catches every exception; "
            "write `except Exception:` in place of `except:`"
        )
    finally:  # the code would catch as well that no listener is there
        os._exit(OurError.exit_code)


@contextmanager
def last_words_to(listener: Callable[[str], object]) -> Iterator[None]:
    """Within, ``listener`` receives the reason why unstoppable staff code ends the process."""
    token = _last_words.set(listener)
    try:
        yield
    finally:
        _last_words.reset(token)


def line_of(problem: BaseException, file: Path) -> str:
    """``file:line`` of the innermost line of a file that an exception passed; without a line if none."""
    frames = traceback.extract_tb(problem.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(file)), None)
    return f"{file}:{line}" if line else str(file)


def load_module(file: Path) -> ModuleType:
    """The module in a file such as ``reference/<operation>/oracle.py``: it is in no package.

    Raises:
        UsageError: it cannot be loaded.

    """
    name = f"grader_{file.stem}_{file.parent.name}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise OurError(f"{file}: Python offers no way to load it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with running(f"loading {file.name}"):
            spec.loader.exec_module(module)
    except TookTooLongError as problem:
        where = line_of(problem, file)
        stopped = f"{where}: loading the file was stopped after {SECONDS:.0f} seconds"
        raise UsageError(f"{stopped}; it should only define things, and compute in its functions") from None
    except (Exception, SystemExit) as problem:  # one that leaves Python would end a class without a word
        raise UsageError(f"{file}: cannot be loaded: {type(problem).__name__}: {problem}") from problem
    return module
