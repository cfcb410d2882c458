"""The staff's own Python code, such as an oracle: how it is loaded, and run so that it ends.

It is trusted, and runs in this process. A call that has taken long is said to whoever waits
(`grader.steps`), and one that does not end is stopped. What the code prints goes to standard error: standard
output may be JSON.
"""

from __future__ import annotations

import importlib.util
import signal
import sys
import threading
import time
import traceback
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING

from grader.errors import OurError, UsageError
from grader.steps import Step, begin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

SECONDS = 120.0
"""Wall time that one call may take. For a case an oracle takes milliseconds; the matrices that are timed on a
GPU take some seconds, and more where the processes of a class share the cores."""

SAID_AFTER = 10.0
"""Seconds after which it is said that a call has not come back yet."""

_LEAST = 0.001
"""A timer of 0 seconds would be none."""

_one_at_a_time = threading.RLock()
"""Two threads that redirect what is printed would restore it in the wrong order."""


class TookTooLongError(BaseException):
    """The code was stopped: it is no Exception, so that code which catches all of those does not go on."""


@contextmanager
def running(code: str) -> Iterator[None]:
    """Within, the staff's code runs, which ``code`` names to whoever waits.

    Raises:
        TookTooLongError: it took more than `SECONDS`. Off the main thread nobody stops it.

    """
    with _one_at_a_time, redirect_stdout(sys.stderr), _stopped_after(SECONDS, code):
        yield


@contextmanager
def _stopped_after(seconds: float, code: str) -> Iterator[None]:
    """Say once that the block takes long, and raise TookTooLongError in it after so many seconds."""
    of_caller, _ = signal.getitimer(signal.ITIMER_REAL)
    if threading.current_thread() is not threading.main_thread() or 0 < of_caller <= seconds:
        yield  # signals reach the main thread alone; and whoever calls us may stop sooner
        return
    is_said = False

    def alarm(_number: int, _frame: object) -> None:
        nonlocal is_said
        if is_said:
            raise TookTooLongError
        is_said = True
        begin(Step("staff-code", code=code))

    began, before = time.monotonic(), signal.signal(signal.SIGALRM, alarm)
    first = min(SAID_AFTER, seconds / 2)
    signal.setitimer(signal.ITIMER_REAL, first, seconds - first)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if of_caller:
            signal.setitimer(signal.ITIMER_REAL, max(_LEAST, of_caller - (time.monotonic() - began)))


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
