"""What can be typed: commands, their options, their help with an example each."""

from __future__ import annotations

import argparse
import os
from fractions import Fraction
from pathlib import Path

from grader import __version__
from grader.cli import authoring_arguments

_EXITS = (
    "exit codes: 0 fine, 1 below full marks or --fail-under, 2 usage or a wrong assignment, 3 our own fault"
)

SANDBOXES = ("auto", "docker", "bubblewrap", "local", "none")


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="grader",
        description="Grade CUDA assignments: correctness, races, memory safety, speed; no GPU needed.",
        epilog=_EXITS,
    )
    top.add_argument("--version", action="version", version=f"grader {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _check(
        _command(
            commands,
            "check",
            "check one file on the visible cases, before handing it in",
            "grader check tiled-matmul mine.cu",
        )
    )
    _grade(
        _command(
            commands,
            "grade",
            "grade a file, a folder of files, or a class",
            "grader grade tiled-matmul submissions/ -o out",
        )
    )
    out = _command(
        commands,
        "report",
        "write the reports again from stored grades, running nothing",
        "grader report out",
    )
    out.add_argument("out", metavar="OUT", type=Path, help="the folder given to `grader grade -o`")
    out.add_argument(
        "--released",
        choices=("due_date", "published"),
        default="",
        help="what has come by now: students' reports show what waited for it (published includes due_date)",
    )
    out.add_argument(
        "--assignment",
        metavar="ASSIGNMENT",
        default=None,
        help="with --released: the assignment that was graded, an id or a path (default: the id)",
    )
    out.add_argument(
        "--width", type=_positive, default=None, help="columns of the table (default: the terminal's)"
    )
    authoring_arguments.add(lambda name, summary, example: _command(commands, name, summary, example))
    doctor = _command(
        commands,
        "doctor",
        "say what this machine can do, and how to fix what it cannot",
        "grader doctor",
    )
    doctor.set_defaults(sandbox="local")
    doctor.add_argument(
        "--build-image",
        nargs="?",
        const="build",
        choices=("build", "gpu", "thin"),
        help="make the image that containers are made of (default: build; gpu: with what a GPU needs; "
        "thin: of this machine's own programs)",
    )
    _attack(doctor)
    _toolchain(doctor)
    return top


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    summary: str,
    example: str,
) -> argparse.ArgumentParser:
    made = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=f"example: {example}",
    )
    made.set_defaults(command=name)
    return made


def _check(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help="an id such as tiled-matmul, or a path")
    made.add_argument("file", metavar="FILE", type=Path, help="the file (or folder) you would hand in")
    _shared(made)
    made.add_argument("--timings", action="store_true", help="say where the time went")
    made.add_argument("--width", type=_positive, default=None, help="columns of the feedback")


def _grade(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help="an id such as tiled-matmul, or a path")
    made.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        type=Path,
        help="a file, a folder of files, or a folder of one folder per student",
    )
    made.add_argument(
        "-o",
        "--out",
        metavar="OUT",
        type=Path,
        required=True,
        help="where grades and reports go; run again to resume",
    )
    made.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        default=os.cpu_count() or 1,
        help="submissions at a time (default: the number of cores)",
    )
    made.add_argument(
        "--fresh", action="store_true", help="grade everything again, also what is already done"
    )
    made.add_argument(
        "--i-trust-these-files",
        action="store_true",
        default=os.environ.get("GRADER_TRUST") == "1",
        help="grade a class with nothing around it but limits (or GRADER_TRUST=1)",
    )
    _shared(made)


def _attack(made: argparse.ArgumentParser) -> None:
    made.set_defaults(backend="auto", races="both")
    group = made.add_argument_group("does the sandbox hold?")
    group.add_argument(
        "--attack",
        nargs="*",
        metavar="NAME",
        default=None,
        help="grade the attacks that come with the grader (all, or those named) and see what comes of it",
    )
    group.add_argument(
        "--sandbox",
        dest="attacked",
        choices=SANDBOXES[1:3],
        default=SANDBOXES[0],
        help="which sandbox they attack (default: the best there is)",
    )
    group.add_argument(
        "--device-code", action="store_true", help="try those of device code, too (they always are on a GPU)"
    )
    group.add_argument("-j", "--jobs", type=_positive, default=2, help="attacks at a time, at most 2")
    group.add_argument("--json", metavar="FILE", type=_writable, help="also write what came of it as JSON")


def _shared(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--seed",
        type=int,
        default=None,
        help="decides all random inputs (check: public; grade: drawn and recorded)",
    )
    made.add_argument(
        "--backend",
        choices=("auto", "emulator", "gpu"),
        default="auto",
        help="where kernels run (default: auto: a GPU where there is one)",
    )
    made.add_argument(
        "--races",
        choices=("both", "sanitizer", "emulator"),
        default="both",
        help="who judges races on a GPU (default: both)",
    )
    made.add_argument(
        "--sandbox",
        choices=SANDBOXES,
        default=_sandbox(),
        help="what is around the compiler and around programs (default: auto, the best there is; "
        "local: only limits, for your own files; none: the same)",
    )
    made.add_argument(
        "--fail-under",
        metavar="PERCENT",
        type=_percent,
        default=None,
        help="exit 1 below this share of the points",
    )
    made.add_argument(
        "--json", metavar="FILE", type=_writable, help="also write the grade (or all grades) as JSON"
    )
    made.add_argument("--junit", metavar="FILE", type=_writable, help="also write JUnit XML")
    made.add_argument("--html", metavar="FILE", type=_writable, help="also write a page to look at")
    _toolchain(made)


def _sandbox() -> str:
    """The sandbox where no option names one: GRADER_SANDBOX, else whichever is best here."""
    named = os.environ.get("GRADER_SANDBOX", "")
    return named if named in SANDBOXES else SANDBOXES[0]


def _toolchain(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--nvcc",
        metavar="PATH",
        default=None,
        help="the nvcc to use (default: the one from PyPI, else the system's)",
    )
    made.add_argument("--no-cache", action="store_true", help="neither read nor keep builds")


def _positive(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) < 2**31:
        raise argparse.ArgumentTypeError("expected a whole number of at least 1")
    return int(text)


def _writable(text: str) -> Path:
    path = Path(text)
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written at {text}; its folder must exist")
    return path


def _percent(text: str) -> Fraction:
    try:
        share = Fraction(text.rstrip("%"))
    except (ValueError, ZeroDivisionError):
        raise argparse.ArgumentTypeError("expected a percentage such as 80") from None
    if not 0 <= share <= 100:  # noqa: PLR2004 - percent
        raise argparse.ArgumentTypeError("expected a percentage from 0 to 100")
    return share
