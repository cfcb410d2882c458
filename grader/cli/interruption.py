"""Being asked to stop, by Ctrl-C or by the system.

Python raises KeyboardInterrupt for it wherever the main thread is, and drops the exception where it ignores
all: in a destructor, in a callback of a weak reference or of the garbage collector. So it is also remembered,
and loops ask; and no traceback shows where it was dropped.
"""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

_asked = threading.Event()


def listen() -> None:
    """Take SIGTERM for Ctrl-C, and remember both."""
    _asked.clear()
    sys.unraisablehook = _tell_of_others
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    _asked.set()
    raise KeyboardInterrupt


def _tell_of_others(dropped: sys.UnraisableHookArgs) -> None:
    """Print what was dropped, but for what is remembered."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)


def raise_if_stopped() -> None:
    """Raise KeyboardInterrupt if a stop was requested and the exception got lost."""
    if _asked.is_set():
        raise KeyboardInterrupt


def forget() -> None:
    """Let the interpreter end with the exit code that it is given, after an interruption that was handled.

    Who asks again while it ends gets what they ask for, without a traceback from wherever that is met.

    CPython remembers one that passed through the `exec` of a text, as dataclasses make their methods, and
    with `python -m` ends by SIGINT in spite of the handler (`_Py_UnhandledKeyboardInterrupt`, pythonrun.c).
    The next `exec` of a text clears that.
    """
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
    exec("")  # noqa: S102 - it does nothing else
