"""What can be typed: commands, their options, their help with an example each."""

from __future__ import annotations

import argparse
import os
from fractions import Fraction
from pathlib import Path

from grader import __version__

_EXITS = (
    "exit codes: 0 fine, 1 below full marks or --fail-under, 2 usage or a wrong assignment, 3 our own fault"
)


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
        "--width", type=_positive, default=None, help="columns of the table (default: the terminal's)"
    )
    doctor = _command(
        commands,
        "doctor",
        "say what this machine can do, and how to fix what it cannot",
        "grader doctor",
    )
    doctor.set_defaults(sandbox="local")
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
    _shared(made)


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
        choices=("local", "docker", "none"),
        default="local",
        help="where the compiler runs (default: local, with process limits)",
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
