"""What can be typed to write assignments, to look into kernels and to change a rubric afterwards."""

from __future__ import annotations

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


def _trace(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)
    made.add_argument("file", metavar="FILE", type=Path, help="the file to look into")


def _questions(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)


def _new(made: argparse.ArgumentParser) -> None:
    made.add_argument("id", metavar="ID", help="what the assignment is called: letters, digits, - _ .")


def _validate(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)


def _export(made: argparse.ArgumentParser) -> None:
    made.add_argument("assignment", metavar="ASSIGNMENT", help=_ASSIGNMENT)
    made.add_argument("folder", metavar="DIR", type=Path, help="where the files go; made if it is not there")
