"""The entry point: whatever happens ends in a message and an exit code, never in a traceback."""

from __future__ import annotations

import errno
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import commands, interruption
from grader.errors import GraderError
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
_OURS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives the exit code."""
    if threading.current_thread() is threading.main_thread():
        interruption.listen()
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # even while something else is being said
        _say("stopped; run the same command again to go on where it stopped")
        return INTERRUPTED


def _run(arguments: Sequence[str]) -> int:
    """The exit code of a command; raises KeyboardInterrupt alone."""
    try:
        options = commands.parse(arguments)
        return int(commands.module_of(options.command).run(options))
    except GraderError as problem:
        _say(str(problem))
        return problem.exit_code
    except BrokenPipeError:  # the reader of our output has gone, `grader … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except Exception as problem:  # noqa: BLE001 - the last resort
        full = isinstance(problem, OSError) and problem.errno == errno.ENOSPC  # where the output goes to
        _say("the output cannot be written: no space left on its disk" if full else _bug(problem))
        return _OURS


def _say(message: str) -> None:
    for line in message.splitlines():  # it may quote a name that somebody else chose
        sys.stderr.write(f"grader: {escaped(line, len(line))}\n")


def _bug(problem: Exception) -> str:
    """A fault of ours in a sentence; the traceback goes to the terminal where GRADER_DEBUG is set."""
    if os.environ.get("GRADER_DEBUG"):
        traceback.print_exception(problem)
    where = traceback.extract_tb(problem.__traceback__)[-1]
    return (
        f"this is a fault of the grader: {type(problem).__name__}: {problem}"
        f" ({Path(where.filename).name}:{where.lineno}); set GRADER_DEBUG=1 for the details"
    )
