"""The entry point, and the commands: each is a module here with `run`, loaded when typed.

Every outcome ends in a message and an exit code, never in a traceback.
"""

from __future__ import annotations

import argparse
import errno
import gc
import os
import sys
import threading
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader import __version__
from grader.base import processors
from grader.base.errors import GraderError, exhausted
from grader.base.text import escaped
from grader.cli import interruption

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

_EXITS = (
    "exit codes: 0 fine, 1 below full marks or --fail-under, 2 usage, a wrong assignment or a question to "
    "you, 3 our own fault, 130 stopped (the same command goes on)"
)


class Command(NamedTuple):
    """Help text of a command before its module is loaded."""

    name: str
    summary: str
    example: str


COMMANDS = (
    Command("list", "list the assignments that come with the grader", "grader list"),
    Command(
        "check",
        "check one file on the visible cases, before handing it in",
        "grader check tiled-matmul mine.cu",
    ),
    Command(
        "grade",
        "grade a class: a folder, a zip file, or a platform's download",
        "grader grade tiled-matmul submissions/ -o out",
    ),
    Command("report", "write the reports again from stored grades, running nothing", "grader report out"),
    Command(
        "merge",
        "put parts of a class that were graded apart together",
        "grader merge out-1 out-2 -o out",
    ),
    Command("rescore", "apply a changed rubric to stored evidence, running nothing", "grader rescore out"),
    Command(
        "gradebook",
        "fill a platform's gradebook, one column of your own export",
        "grader gradebook out --into canvas.csv",
    ),
    Command(
        "feedback",
        "pack students' reports as their platform takes them back",
        "grader feedback out --for moodle -o feedback.zip",
    ),
    Command(
        "trace",
        "show what one block does, barrier interval by interval",
        "grader trace tiled-matmul mine.cu --case mp3 --block 0,0 --html trace.html",
    ),
    Command(
        "estimate",
        "estimate how fast a kernel is on a GPU that is not at hand",
        "grader estimate tiled-matmul mine.cu --device h100",
    ),
    Command(
        "questions",
        "print a student's sheet of questions",
        "grader questions memory-analysis --student ada",
    ),
    Command(
        "new", "make a new assignment that works, to be changed", "grader new my-matmul --like tiled-matmul"
    ),
    Command("validate", "prove that an assignment is sound", "grader validate tiled-matmul"),
    Command(
        "export-student",
        "write exactly what a student may have",
        "grader export-student tiled-matmul handout/",
    ),
    Command(
        "export-gradescope",
        "make an autograder for Gradescope, which grades there without a GPU",
        "grader export-gradescope tiled-matmul -o autograder.zip",
    ),
    Command(
        "completion", "print what a shell needs to complete commands", 'eval "$(grader completion bash)"'
    ),
    Command("doctor", "say what this machine can do, and how to fix what it cannot", "grader doctor"),
)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; ends the process where it cannot be understood, or where help is asked for."""
    return _parser(_command_in(arguments)).parse_args(arguments)


def _command_in(words: Sequence[str]) -> str:
    """The first word that is no option, empty if there is none."""
    return next((word for word in words if not word.startswith("-")), "")


def module_of(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"grader.cli.{name.replace('-', '_')}")


def _parser(chosen: str) -> argparse.ArgumentParser:
    """The command line; only the ``chosen`` command has its options, so that no other one is loaded.

    Before a command's name stand only options that end at once: it is the first word without a dash.
    """
    parser = argparse.ArgumentParser(
        prog="grader",
        description="Grade CUDA assignments: correctness, races, memory safety, speed; no GPU needed.",
        epilog=_EXITS,
    )
    parser.add_argument("--version", action="version", version=f"grader {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, summary, example in COMMANDS:
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog=f"example: {example}",
        )
        command.set_defaults(command=name)
        if name == chosen:
            from grader.cli.options import OF_COMMANDS  # noqa: PLC0415 - the list of commands has none

            OF_COMMANDS[name](command)
    return parser


INTERRUPTED = 130
_OURS = 3

_WINDOWS: str = "win32"  # no literal: mypy would skip what depends on it
_ELSEWHERE = (
    "nothing is graded in Windows itself; type the same in WSL 2, the Linux in Windows, or use your course's "
    "container image with Docker"
)

_GPU_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""Devices that NVIDIA's driver makes on Linux, and in the Windows subsystem for it."""

_THREADS = 8
"""Threads for products of timed cases; one for each of 32 cores takes 0.2 s to start."""


_LOADED = 100_000
"""Number of objects made and kept after which Python looks for garbage: loading a command makes fewer, and
looking through them took a tenth of a check."""

_OF_ONE_FILE = ("check", "estimate", "trace", "list")
"""Commands that end before there is garbage to speak of; others go through a class."""

_BEFORE = gc.get_threshold()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; gives the exit code."""
    _open_closed_streams()
    if sys.platform == _WINDOWS:
        _say(_ELSEWHERE)
        return _OURS
    if arguments is None:
        arguments = sys.argv[1:]
    if threading.current_thread() is threading.main_thread():
        interruption.listen()
    _spare_threads(_command_in(arguments))
    gc.set_threshold(max(gc.get_threshold()[0], _LOADED))
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what may be typed
        _complete(os.environ.get("COMP_LINE", ""))
    try:
        return _run(arguments)
    except KeyboardInterrupt:  # even while something else is being said
        interruption.forget()
        _say("stopped; run the same command again to go on where it stopped")
        return INTERRUPTED


def _open_closed_streams() -> None:
    """Open closed streams on the null device, where a job was started with its output closed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def _spare_threads(command: str) -> None:
    """Let NumPy multiply matrices with one thread, unless the user says otherwise, or it is worth more.

    Starting a thread for each core takes longer than loading NumPy does, in every process, and products are
    small. Beside a GPU those of timed cases are large, for which a few threads do. But where a class is
    graded, each of many processes would have them, and they keep the cores from others while they wait for
    work.
    """
    is_large = command == "check" and any(device.exists() for device in _GPU_DEVICES)
    threads = min(_THREADS, processors.available()) if is_large else 1
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(threads))


def _complete(line: str) -> None:
    """Answer the shell, and end the process."""
    words = line.split()[1:]
    module_of("completion").answer(_parser(_command_in(words)))


def _run(arguments: Sequence[str]) -> int:
    """The exit code of a command; raises KeyboardInterrupt alone."""
    try:
        from grader.cli.arguments import must_be_possible  # noqa: PLC0415 - loaded with the command

        options = parse(arguments or ["--help"])
        command = module_of(options.command)
        for value in vars(options).values():
            must_be_possible(value)
        if options.command not in _OF_ONE_FILE:
            gc.set_threshold(_BEFORE[0])
        return int(command.run(options))
    except GraderError as problem:
        _say(str(problem))
        return problem.exit_code
    except BrokenPipeError:  # the reader of our output has gone, `grader … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED
    except Exception as problem:  # noqa: BLE001 - the last resort
        full = isinstance(problem, OSError) and problem.errno == errno.ENOSPC  # where the output goes to
        _say("the output cannot be written: no space left on its disk" if full else _unforeseen(problem))
        return _OURS


def _say(message: str) -> None:
    for line in message.splitlines():  # it may quote a name that another person chose
        sys.stderr.write(f"grader: {escaped(line, len(line))}\n")


def _unforeseen(problem: Exception) -> str:
    """A limit of this machine, or else a fault of ours, in a sentence.

    The traceback goes to the terminal where GRADER_DEBUG is set.
    """
    if os.environ.get("GRADER_DEBUG"):
        traceback.print_exception(problem)
    if limit := exhausted(problem):
        return limit
    where = traceback.extract_tb(problem.__traceback__)[-1]
    return (
        f"this is a fault of the grader: {type(problem).__name__}: {problem}"
        f" ({Path(where.filename).name}:{where.lineno}); set GRADER_DEBUG=1 for the details"
    )
