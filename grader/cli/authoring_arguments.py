"""What can be typed to write assignments, to look into kernels and to change a rubric afterwards."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    Command = Callable[[str, str, str], argparse.ArgumentParser]

_ASSIGNMENT = "an id such as tiled-matmul, or a path"


def add(command: Command) -> None:
    """Add the commands; ``command`` makes one of a name, a summary and an example."""
    _rescore(
        command("rescore", "apply a changed rubric to stored evidence, running nothing", "grader rescore out")
    )
    _trace(
        command(
            "trace",
            "show what one block does, barrier interval by interval",
            "grader trace tiled-matmul mine.cu --case mp3 --block 0,0 --html trace.html",
        )
    )
    _questions(
        command(
            "questions",
            "print a student's sheet of questions",
            "grader questions memory-analysis --student ada",
        )
    )
    _new(
        command(
            "new",
            "make a new assignment that works, to be changed",
            "grader new my-matmul --like tiled-matmul",
        )
    )
    _validate(command("validate", "prove that an assignment is sound", "grader validate tiled-matmul"))
    _export(
        command(
            "export-student",
            "write exactly what a student may have",
            "grader export-student tiled-matmul handout/",
        )
    )


def _rescore(made: argparse.ArgumentParser) -> None:
    made.add_argument("out", metavar="OUT", type=Path, help="the folder given to `grader grade -o`")
    made.add_argument(
        "--assignment",
        metavar="ASSIGNMENT",
        default=None,
        help="the assignment with the changed rubric: an id or a path (default: the id that was graded)",
    )


def _trace(made: argparse.ArgumentParser) -> None:
    from grader.cli import arguments  # noqa: PLC0415 - it imports this module

    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)
    made.add_argument("file", metavar="FILE", type=Path, help="the file to look into")
    made.add_argument("--case", metavar="ID", default=None, help="a visible case (default: the first one)")
    made.add_argument(
        "--shape", metavar="M=8,K=8,…", default=None, help="another shape than the case's, each size once"
    )
    made.add_argument("--inputs", metavar="KIND", default=None, help="other inputs, such as counting")
    made.add_argument(
        "--block", metavar="X,Y", default="0,0", help="which block: its blockIdx (default: 0,0)"
    )
    made.add_argument(
        "--seed", type=int, default=None, help="decides all random inputs (default: as in `check`)"
    )
    made.add_argument("--width", type=arguments._positive, default=None, help="columns of the tables")  # noqa: SLF001
    made.add_argument(
        "--json",
        metavar="FILE",
        type=arguments._writable,  # noqa: SLF001
        help="also write the trace as JSON",
    )
    made.add_argument(
        "--html",
        metavar="FILE",
        type=arguments._writable,  # noqa: SLF001
        help="also write a page that plays it",
    )
    made.add_argument(
        "--sandbox",
        choices=arguments.SANDBOXES,
        default=arguments._sandbox(),  # noqa: SLF001
        help="what is around the compiler (default: auto, as in `check`)",
    )
    arguments._toolchain(made)  # noqa: SLF001


def _questions(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)
    made.add_argument(
        "--student",
        metavar="ID",
        required=True,
        help="whose numbers: the id of the submission, which is what its file or folder is called",
    )
    made.add_argument(
        "--seed",
        type=int,
        default=None,
        help="decides what is drawn (default: the assignment's; grade with the same)",
    )
    made.add_argument("--json", action="store_true", help="print the sheet as JSON")
    made.add_argument("--template", action="store_true", help="print only the file to fill in")
    made.add_argument(
        "--answers", action="store_true", help="print that file with the right answers, for staff"
    )
    made.set_defaults(no_cache=False)


def _new(made: argparse.ArgumentParser) -> None:
    made.add_argument("id", metavar="ID", help="what the assignment is called: letters, digits, - _ .")
    made.add_argument("--like", metavar="ASSIGNMENT", help="copy this one (an id or a path)")
    made.add_argument("--title", help="what students read (asked for at a terminal)")
    made.add_argument("--kernel", metavar="NAME", help="the kernel's name (asked for at a terminal)")
    made.add_argument(
        "--in",
        dest="folder",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="the folder that has, or gets, assignments/ and reference/ (default: this one)",
    )


def _validate(made: argparse.ArgumentParser) -> None:
    from grader.cli import arguments  # noqa: PLC0415 - it imports this module

    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)
    made.add_argument(
        "-j",
        "--jobs",
        type=arguments._positive,  # noqa: SLF001 - one command line, in two files; so below
        default=os.cpu_count() or 1,
        help="mutants at a time (default: the number of cores)",
    )
    made.add_argument(
        "--seed", type=int, default=1, help="the first seed that inputs are drawn from (default: 1)"
    )
    made.add_argument(
        "--seeds",
        type=arguments._positive,  # noqa: SLF001
        default=20,
        help="as many seeds the model solution must pass (default: 20)",
    )
    made.add_argument(
        "--backend",
        choices=("auto", "emulator", "gpu"),
        default="auto",
        help="whether the model solution is tried on a GPU as well (default: auto: where there is one)",
    )
    for option, form in (("--json", "JSON"), ("--report", "markdown")):
        writable = arguments._writable  # noqa: SLF001
        made.add_argument(option, metavar="FILE", type=writable, help=f"also write the report as {form}")
    made.add_argument("--width", type=arguments._positive, default=None, help="columns of the report")  # noqa: SLF001
    made.set_defaults(sandbox="local", races="both")
    arguments._toolchain(made)  # noqa: SLF001


def _export(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)
    made.add_argument("folder", metavar="DIR", type=Path, help="where the files go; made if it is not there")
    made.set_defaults(sandbox="local")
    from grader.cli import arguments  # noqa: PLC0415 - it imports this module

    arguments._toolchain(made)  # noqa: SLF001 - one command line, in two files
