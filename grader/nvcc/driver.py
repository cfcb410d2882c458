"""nvcc drives other programs: how one of them ended, which files they read, what the assembler said."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.nvcc.diagnostics import Message
from grader.nvcc.source import SOURCE_NAME
from grader.sandbox import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.sandbox import Outcome

_DIED = re.compile(
    r"^\S*g\+\+\S*: (?:fatal|internal compiler) error: "
    r"(?P<reason>[A-Z][\w ]*) signal terminated program \w+$",
    re.MULTILINE,
)
_OWN_WORDS = re.compile(r"^nvcc (?:error|fatal|warning)\s*:.*$", re.MULTILINE)
_FATAL = re.compile(r"nvcc fatal\s*: (?P<text>.*)")
_ASSEMBLER = re.compile(
    r"^(?P<file>[^:\n]+):(?:(?P<line>\d+):)? (?:Error|Fatal error): |^[^:\n]+: Assembler messages:",
    re.MULTILINE,
)
_TEMPORARY = re.compile(
    rf"(?:[^\s]*/)?(?:tmpxft_[0-9a-f_]+-\d+_{re.escape(SOURCE_NAME.removesuffix('.cu'))}\.[\w.]+|cc\w{{6}}\.s)"
)
_PREPROCESSOR = re.compile(r"^[^\n]+:\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
_TARGET, _PASSES = SOURCE_NAME.removesuffix(".cu") + ".o", 2
_LIMITS = {24: Status.TIME, 25: Status.OUTPUT}  # SIGXCPU, SIGXFSZ
_NUMBERS = {"Segmentation fault": 11, "Aborted": 6, "Bus error": 7, "Killed": 9}
_SIGNALLED = 128
"""Above this an exit status of nvcc, as of a shell, tells the signal that ended what it started."""

REFUSED_ASSEMBLY = "the assembler refuses what an `asm` statement of this file contains"


def revealed(outcome: Outcome) -> Outcome:
    """The outcome of the program that nvcc or g++ started, where a signal ended that one."""
    if outcome.status is not Status.EXIT or outcome.returncode == 0:
        return outcome
    died = _DIED.search(outcome.stderr.decode(errors="replace"))
    number = _NUMBERS.get(died["reason"], 0) if died else max(0, outcome.returncode - _SIGNALLED)
    if not number:
        return outcome
    return replace(outcome, status=_LIMITS.get(number, Status.SIGNAL), returncode=-number)


def fatal(log: str) -> str:
    """What nvcc itself could not do (an option, a file), where it says no more than that; empty elsewhere."""
    found = _FATAL.fullmatch(log.strip())
    return found["text"] if found else ""


def without_own_words(log: str) -> str:
    """What the programs said that nvcc started, without what nvcc adds."""
    return _OWN_WORDS.sub("", log)


def assembler_messages(log: str) -> tuple[Message, ...]:
    """An error for each line of the student's that the assembler refuses, or one for the file.

    Never its words: ``.include`` in an `asm` may point at anything, and the assembler quotes what it reads.
    """
    found = list(_ASSEMBLER.finditer(log))
    lines = {int(m["line"]) for m in found if m["file"] == SOURCE_NAME and m["line"]}
    if lines:
        return tuple(Message(True, REFUSED_ASSEMBLY, SOURCE_NAME, line) for line in sorted(lines))
    return (Message(True, REFUSED_ASSEMBLY),) if found else ()


def is_preprocessed(dependencies: str, log: str) -> bool:
    """Whether every preprocessor that ran came to its end, and so noted all that it read.

    nvcc preprocesses and compiles for the host, then for the device; what fails first is the last to speak.
    """
    passes = sum(rule.startswith(f"{_TARGET}:") for rule in _rules(dependencies))
    return passes >= _PASSES or (passes > 0 and not _PREPROCESSOR.search(log))


def files_read(dependencies: Iterable[str]) -> tuple[str, ...]:
    """The files in lists of dependencies (as for make), each once, without the compilers' temporary files."""
    paths = (
        path.replace("\\ ", " ").replace("\\#", "#").replace("$$", "$")
        for text in dependencies
        for rule in _rules(text)
        for path in re.split(r"(?<!\\)\s+", rule.partition(": ")[2])
    )
    return tuple(dict.fromkeys(path for path in paths if path and not _TEMPORARY.fullmatch(path)))


def _rules(dependencies: str) -> Iterator[str]:
    return (line for line in dependencies.replace("\\\n", " ").splitlines() if line.strip())
