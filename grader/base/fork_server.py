"""Module that the server loads first from which processes are forked: a vanished client is no traceback.

A process that ends while it asks for another one, since this machine has no memory left for it, has said so
itself. The server reads the end of its request and ends with EOFError, whose traceback would stand on the
terminal after that message (CPython: ``multiprocessing.forkserver.main``).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


def _report_exception(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback, unless a client of the server has vanished."""
    if not issubclass(kind, EOFError):
        sys.__excepthook__(kind, problem, trace)


sys.excepthook = _report_exception
