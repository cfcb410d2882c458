"""What `ld` prints → messages with the student's own lines, for the same findings as a compiler's.

The object file has the host code's line numbers (`-g1`), so that the linker names them (ld(1)).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.errors import ToolMissing
from grader.nvcc.diagnostics import Message
from grader.nvcc.shown import harmless
from grader.nvcc.source import SOURCE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNRESOLVED = re.compile(r"(?P<kind>undefined reference to|multiple definition of) [`'](?P<name>.+?)'(?:;|$)")
_PLACE = re.compile(r"(?P<path>[^\s:]+):(?P<line>\d+): $")
_ABSENT = re.compile(r"cannot find (?P<name>[^\s:]+)")
_TOO_FAR = re.compile(r"relocation truncated to fit|failed to convert GOTPCREL relocation")
_OURS = re.compile(r"^.*(?:\bld(?:\.\w+)?|collect2): (?P<text>.*)$")
_LONGEST_LINE = 4000
_LIBRARIES = (
    (re.compile(r"cu[A-Z]\w*"), "the CUDA driver's library (libcuda)"),
    (re.compile(r"cublas\w+"), "cuBLAS"),
    (re.compile(r"cufft\w+"), "cuFFT"),
    (re.compile(r"curand[A-Z]\w*"), "cuRAND"),
    (re.compile(r"cusolver\w+"), "cuSOLVER"),
    (re.compile(r"cusparse\w+"), "cuSPARSE"),
    (re.compile(r"omp_\w+|GOMP_\w+"), "OpenMP"),
    (re.compile(r"MPI_\w+"), "MPI"),
)
"""Functions of libraries that programs are not linked with, by their names."""

NO_MAIN = "this file has no `main` function, and a program begins there"
TOO_LARGE = "the global and static arrays of this program are too large: together more than 2 GiB"


def read_messages(log: str, headers: Iterable[str]) -> tuple[Message, ...]:
    """An error for each name that is defined nowhere or twice, in order; one error for what else is wrong.

    Raises ToolMissing where a library is missing that every program is linked with.
    """
    lines = [line[:_LONGEST_LINE] for line in log.splitlines()]
    unresolved = [(line, match) for line in lines if (match := _UNRESOLVED.search(line))]
    absent = next(filter(None, map(_ABSENT.search, lines)), None)
    if absent and not unresolved:  # libraries come first: this is no name of the student's
        raise ToolMissing(
            f"no program can be linked here: {harmless(absent['name'])} is missing; "
            "`grader doctor` says what is installed"
        )
    if too_large(log):
        return (Message(True, TOO_LARGE),)
    own = (SOURCE_NAME, *headers)
    found = [_message(line, match, own) for line, match in unresolved]
    return tuple(dict.fromkeys(found)) or (_other(lines),)


def too_large(log: str) -> bool:
    """Whether addresses do not reach over the program's arrays; the linker says so once for each use."""
    return bool(_TOO_FAR.search(log))


def _message(line: str, match: re.Match[str], own: tuple[str, ...]) -> Message:
    name = match["name"]
    if name == "main" and match["kind"].startswith("undefined"):
        return Message(True, NO_MAIN)
    place = _PLACE.search(line[: match.start()])
    path = place["path"] if place else ""
    file = next((each for each in own if path == each or path.endswith(f"/{each}")), "")
    number = int(place["line"]) if place and file else None
    if match["kind"].startswith("multiple"):
        text = f"`{name}` is defined here and once more elsewhere (multiple definition); rename it"
    else:
        text = f"`{name}` is used here, but nothing defines it (undefined reference); {_advice(name)}"
    return Message(True, text, file, number)


def _advice(name: str) -> str:
    library = next((library for names, library in _LIBRARIES if names.fullmatch(name)), "")
    if library:
        return f"it is a function of {library}, which programs are not linked with here"
    return "define it in this file, or check how its name and its parameters are spelt"


def _other(lines: list[str]) -> Message:
    said = [match["text"] for line in lines if (match := _OURS.match(line))]
    reason = f": {said[0]}" if said else " and does not say why"
    return Message(True, f"the linker refuses this program{reason}")
