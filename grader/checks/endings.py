"""How a run of a program ended, in sentences."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from grader.checks import printed
from grader.model import FindingKind

if TYPE_CHECKING:
    from grader.model import ProgramRun

MOST_LINES = 5
"""Lines of standard error that are quoted."""

SIGNALS = {
    "SIGSEGV": "it touched memory that is not its own",
    "SIGBUS": "it touched memory that is not there",
    "SIGABRT": "it gave up by itself: an assertion failed, or nobody caught an exception",
    "SIGFPE": "it divided a whole number by zero",
    "SIGILL": "it came to an instruction that the processor does not have",
    "SIGTRAP": "it came to a trap: undefined behaviour that the compiler knew of",
    "SIGPIPE": "it wrote to where nobody reads any more",
    "SIGSYS": "it asked the system for something that is not allowed here",
    "SIGXCPU": "it took more processor time than it may",
    "SIGXFSZ": "it wrote a larger file than it may",
    "SIGKILL": "it was killed",
}

EARLY = "the program did not come to its end"
"""All that is told of it in a hidden case."""

LIMITS = {
    "memory": "it took more memory than it may",
    "output-limit": "it printed more, or wrote a larger file, than it may",
}


def by_itself(run: ProgramRun) -> bool:
    """Whether the program came to its end."""
    return run.ending == "exit"


def stopped(run: ProgramRun) -> str:
    """Why a program did not come to its end, as a clause about it."""
    if run.ending == "time":
        return f"it was stopped after {run.seconds:.0f} s: it was not done by then"
    if run.ending == "signal":
        name = signal_name(-run.returncode)
        known = SIGNALS.get(name)
        return f"{known} ({name})" if known else f"it was ended by {name}"
    return LIMITS.get(run.ending, f"it ended by {printed.harmless(run.ending)}")


def kind(run: ProgramRun) -> FindingKind:
    """What such an ending is called in a grade."""
    if by_itself(run):
        return FindingKind.WRONG_OUTPUT
    return FindingKind.TIMEOUT if run.ending == "time" else FindingKind.FAULT


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11; `signal 99` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def last_words(run: ProgramRun) -> tuple[str, ...]:
    """The last lines of standard error, safe to be shown."""
    said = printed.lines(printed.decoded(run.stderr))[-MOST_LINES:]
    return tuple(printed.harmless(line, 100) for line in said)
