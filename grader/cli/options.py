"""Options and arguments of each command: a function for each, which adds them to the command's parser.

It stands apart from the commands so that ``--help``, a completion or a mistyped option loads nothing of what
only a run needs.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from grader.base import processors
from grader.cli import arguments
from grader.running.backends import AUTO, CHOICES
from grader.toolchain.gpu import RaceJudge

NODES = 2
"""Jobs of a cluster, where none are asked for."""

_SHELLS = ("bash", "zsh", "fish")

_REFERENCE = re.compile(r"[a-z0-9][\w./:@-]*", re.ASCII)
"""Pattern of image names: it accepts all valid ones (OCI distribution specification, "Pulling manifests"),
and few others."""


def _course_defaults() -> dict[str, object]:
    """Settings of the course's file; a check, which has none, does not load what reads it."""
    from grader.cli import course_file  # noqa: PLC0415 - see above

    return course_file.defaults()


def _check(parser: argparse.ArgumentParser) -> None:
    """After `grader check`."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument("file", metavar="FILE", type=Path, help="the file (or folder) you would hand in")
    arguments.add_grading(parser)
    parser.add_argument("--timings", action="store_true", help="say where the time went")
    parser.add_argument("--width", type=arguments.positive, default=None, help="columns of the feedback")


def _grade(parser: argparse.ArgumentParser) -> None:
    """After `grader grade`."""
    _add_class(parser)
    _add_part(parser)
    _add_cluster(parser)
    parser.add_argument(
        "--anonymous",
        action="store_true",
        help="reports have no names: students get pseudonyms, and OUT/private says who is who",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="grade everything again, also what is already done"
    )
    parser.add_argument("--verbose", action="store_true", help="print a line for each student who is done")
    parser.add_argument(
        "--i-trust-these-files",
        action="store_true",
        default=os.environ.get("GRADER_TRUST") == "1",
        help="grade a class with nothing around it but limits (or GRADER_TRUST=1)",
    )
    arguments.add_grading(parser)
    parser.set_defaults(**_course_defaults())


def _add_class(parser: argparse.ArgumentParser) -> None:
    """Add the options of the class, its output and its owners."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        type=Path,
        help="a file, a folder of files or of students' folders, a .zip or .tar of these, or the download of "
        "Moodle, Canvas, Gradescope, Blackboard, Brightspace, GitHub Classroom and others, as it is",
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="OUT",
        type=Path,
        help="where grades and reports go; run again to resume",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=arguments.positive,
        help="submissions at a time (default: the number of processors it may use; "
        "with a GPU half as many again, at most 32 for one)",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE",
        type=Path,
        help="CSV of everybody in the course: says whose each submission is, and who is missing",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="grade nothing: print whose each submission is, and what is left out and why",
    )
    parser.add_argument(
        "--skip-unmatched",
        action="store_true",
        help="grade the others where it is in doubt whose something is (default: ask, exit 2)",
    )
    parser.add_argument(
        "--adjustments",
        metavar="FILE",
        type=Path,
        help="YAML of late policy, extensions, changed scores, who is excused (default: "
        "adjustments.yaml beside the assignment, else what was given before)",
    )


def _add_part(parser: argparse.ArgumentParser) -> None:
    """Add the options of the part of the class that is graded."""
    parser.add_argument(
        "--only",
        metavar="ID",
        action="append",
        default=[],
        help="grade this submission again, whatever is stored of it (may be given several times)",
    )
    parser.add_argument(
        "--shard",
        metavar="K/N",
        type=arguments.shard,
        help="grade only the K-th of N equal parts of the class, to be put together by `grader merge`",
    )


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the options of a cluster."""
    parser.add_argument(
        "--cluster",
        metavar="WHERE",
        type=_where,
        default=None,
        help="grade on several machines with Dask: `slurm`, a scheduler's address such as tcp://HOST:8786, "
        "or `local`",
    )
    parser.add_argument(
        "--nodes",
        metavar="N",
        type=arguments.positive,
        default=None,
        help=f"with --cluster slurm: jobs that each grade -j submissions at a time (default: {NODES})",
    )


def _where(text: str) -> str:
    from grader.classroom.cluster import schedulers  # noqa: PLC0415 - where a cluster is asked for
    from grader.classroom.cluster.address import is_address  # noqa: PLC0415

    if text not in (schedulers.LOCAL, schedulers.SLURM) and not is_address(text):
        raise argparse.ArgumentTypeError("expected `slurm`, `local` or an address such as tcp://HOST:8786")
    return text


def _report(parser: argparse.ArgumentParser) -> None:
    """After `grader report`."""
    _add_out(parser)
    parser.add_argument(
        "--released",
        choices=("due_date", "published"),
        default="",
        help="what has come by now: students' reports show what waited for it (published includes due_date)",
    )
    parser.add_argument(
        "--assignment",
        metavar="ASSIGNMENT",
        default=None,
        help="with --released: the assignment that was graded, an id or a path (default: that one)",
    )
    parser.add_argument(
        "--width",
        type=arguments.positive,
        default=None,
        help="columns of the table (default: the terminal's)",
    )


def _feedback(parser: argparse.ArgumentParser) -> None:
    """After `grader feedback`."""
    from grader.classroom.course.feedback import KINDS  # noqa: PLC0415 - no other command has them

    lms = _course_defaults().get("lms")
    _add_out(parser)
    parser.add_argument(
        "--for",
        dest="platform",
        choices=KINDS,
        default=lms,
        required=lms is None,
        help="moodle, canvas: under the names of the download; folders: one for each submission; "
        "mail: those, and mail.csv with everybody's address (default: `lms` in grader.toml)",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE.zip", type=arguments.writable, required=True, help="the archive"
    )
    _add_unfinished(parser)


def _add_out(parser: argparse.ArgumentParser) -> None:
    """The graded class that a command reads."""
    parser.add_argument("out", metavar="OUT", type=Path, help="the folder given to `grader grade -o`")


def _add_compiler(parser: argparse.ArgumentParser) -> None:
    """The compiler of one file, and its sandbox."""
    parser.add_argument(
        "--sandbox",
        choices=arguments.SANDBOXES,
        default=arguments.default_sandbox(),
        help="what is around the compiler (default: auto, as in `check`)",
    )
    arguments.add_toolchain(parser)


def _add_unfinished(parser: argparse.ArgumentParser) -> None:
    """The option of commands that give grades away."""
    parser.add_argument(
        "--unfinished",
        action="store_true",
        help="also where the batch was stopped: those who are graded alone (default: ask, exit 2)",
    )


def _gradebook(parser: argparse.ArgumentParser) -> None:
    """After `grader gradebook`."""
    _add_out(parser)
    parser.add_argument(
        "--into",
        metavar="FILE",
        type=Path,
        required=True,
        help="what you exported: Canvas' gradebook, Moodle's worksheet, Brightspace's, Blackboard's or "
        "Gradescope's grades, or any CSV with --column",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=arguments.writable,
        help="where the filled file goes (default: the same file)",
    )
    parser.add_argument(
        "--column", metavar="NAME", default="", help="the column to fill, by its heading or its number"
    )
    parser.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        default=_course_defaults().get("scale"),
        help="where the column takes other points than could be reached: write the same share of them, or "
        "the points as they are (default: `scale` in grader.toml, else ask, exit 2)",
    )
    _add_unfinished(parser)


def _merge(parser: argparse.ArgumentParser) -> None:
    """After `grader merge`."""
    parser.add_argument(
        "parts", metavar="OUT", type=Path, nargs="+", help="the folders given to `grader grade -o`"
    )
    parser.add_argument(
        "-o", "--out", metavar="OUT", type=Path, required=True, help="where the whole class goes"
    )
    parser.add_argument(
        "--assignment",
        metavar="ASSIGNMENT",
        default=None,
        help="for similar submissions: the assignment, an id or a path (default: the one that was graded)",
    )


def _rescore(parser: argparse.ArgumentParser) -> None:
    """After `grader rescore`."""
    _add_out(parser)
    parser.add_argument(
        "--assignment",
        metavar="ASSIGNMENT",
        default=None,
        help="the assignment with the changed rubric: an id or a path (default: the one that was graded)",
    )


def _trace(parser: argparse.ArgumentParser) -> None:
    """After `grader trace`."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to look into")
    parser.add_argument("--case", metavar="ID", default=None, help="a visible case (default: the first one)")
    parser.add_argument(
        "--shape", metavar="M=8,K=8,…", default=None, help="another shape than the case's, each size once"
    )
    parser.add_argument("--inputs", metavar="KIND", default=None, help="other inputs, such as counting")
    parser.add_argument(
        "--block", metavar="X,Y", default="0,0", help="which block: its blockIdx (default: 0,0)"
    )
    parser.add_argument(
        "--kernel",
        metavar="NAME",
        default="",
        help="of a program or function: launches of this kernel alone",
    )
    parser.add_argument(
        "--launch",
        metavar="N",
        type=arguments.positive,
        default=0,
        help="of a program or function: which launch (default: the first with a finding, or the first)",
    )
    parser.add_argument(
        "--seed", type=arguments.seed, default=None, help="decides all random inputs (default: as in `check`)"
    )
    parser.add_argument("--width", type=arguments.positive, default=None, help="columns of the tables")
    parser.add_argument(
        "--json",
        metavar="FILE",
        type=arguments.writable,
        help="also write the trace as JSON",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        type=arguments.writable,
        help="also write a page that plays it",
    )
    _add_compiler(parser)


def _estimate(parser: argparse.ArgumentParser) -> None:
    """After `grader estimate`."""
    from grader.model import DEVICES  # noqa: PLC0415 - with all records

    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument("file", metavar="FILE", type=Path, help="the file (or folder) with the kernel")
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default=None,
        help="the GPU to estimate for (default: the one that the assignment names)",
    )
    parser.add_argument(
        "--shape",
        metavar="M=512,K=512,…",
        default=None,
        help="another shape than the assignment times, each size once",
    )
    parser.add_argument("--width", type=arguments.positive, default=None, help="columns of the text")
    parser.add_argument(
        "--json", metavar="FILE", type=arguments.writable, help="also write the estimate as JSON"
    )
    _add_compiler(parser)


def _list(parser: argparse.ArgumentParser) -> None:
    """After `grader list`: nothing."""
    parser.set_defaults(no_cache=False)


def _questions(parser: argparse.ArgumentParser) -> None:
    """After `grader questions`."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "--student",
        metavar="ID",
        help="whose numbers: the id of the submission, which is what its file or folder is called",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE",
        type=Path,
        help="CSV of everybody in the course: write a sheet for each; grade with the same --roster",
    )
    parser.add_argument("-o", "--out", metavar="FOLDER", type=Path, help="where the sheets of a --roster go")
    parser.add_argument(
        "--seed",
        type=arguments.seed,
        default=None,
        help="decides what is drawn (default: the assignment's; grade with the same)",
    )
    parser.add_argument("--json", action="store_true", help="print the sheet as JSON")
    parser.add_argument("--template", action="store_true", help="print only the file to fill in")
    parser.add_argument(
        "--answers", action="store_true", help="print that file with the right answers, for staff"
    )
    parser.set_defaults(no_cache=False)


def _validate(parser: argparse.ArgumentParser) -> None:
    """After `grader validate`."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "-j",
        "--jobs",
        type=arguments.positive,
        default=processors.available(),
        help="mutants at a time (default: the number of processors it may use)",
    )
    parser.add_argument(
        "--seed",
        type=arguments.seed,
        default=1,
        help="the first seed that inputs are drawn from (default: 1)",
    )
    parser.add_argument(
        "--seeds",
        type=arguments.positive,
        default=20,
        help="as many seeds the model solution must pass (default: 20)",
    )
    parser.add_argument(
        "--backend",
        choices=CHOICES,
        default=AUTO,
        help="whether the model solution is tried on a GPU as well (default: auto: where there is one)",
    )
    for option, form in (("--json", "JSON"), ("--report", "markdown")):
        writable = arguments.writable
        parser.add_argument(option, metavar="FILE", type=writable, help=f"also write the report as {form}")
    parser.add_argument(
        "--show", metavar="MISTAKE", help="only print one of the staff's mistakes whole, such as no_guard.cu"
    )
    parser.add_argument("--width", type=arguments.positive, default=None, help="columns of the report")
    parser.set_defaults(sandbox="local", races=RaceJudge.BOTH)
    arguments.add_toolchain(parser)


def _new(parser: argparse.ArgumentParser) -> None:
    """After `grader new`."""
    parser.add_argument("id", metavar="ID", help="what the assignment is called: letters, digits, - _ .")
    parser.add_argument("--like", metavar="ASSIGNMENT", help="copy this one (an id or a path)")
    parser.add_argument("--title", help="what students read (asked for at a terminal)")
    parser.add_argument("--kernel", metavar="NAME", help="the kernel's name (asked for at a terminal)")
    parser.add_argument(
        "--in",
        dest="folder",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="the folder that has, or gets, assignments/ and reference/ (default: this one)",
    )


def _export_student(parser: argparse.ArgumentParser) -> None:
    """After `grader export-student`."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="where the files go; made if it is not there"
    )
    parser.add_argument(
        "--image",
        metavar="NAME",
        type=_image,
        help="also write what VS Code and Codespaces read: a container of this image (`make image` makes "
        "one), and tasks that check a file",
    )
    parser.set_defaults(sandbox="local")
    arguments.add_toolchain(parser)


def _image(name: str) -> str:
    if not _REFERENCE.fullmatch(name):
        raise argparse.ArgumentTypeError(
            "expected the name of a container image, such as ghcr.io/course/grader:1"
        )
    return name


def _export_gradescope(parser: argparse.ArgumentParser) -> None:
    """After `grader export-gradescope`."""
    parser.add_argument("assignment", metavar="ASSIGNMENT", help=arguments.ASSIGNMENT)
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=arguments.writable,
        required=True,
        help="the zip to write, for Gradescope's `Configure Autograder`",
    )
    parser.add_argument(
        "--seed",
        type=arguments.seed,
        default=None,
        help="decides all inputs, the same for everybody (default: drawn, and recorded in the zip)",
    )
    parser.add_argument(
        "--minutes",
        type=arguments.positive,
        default=10,
        help="Gradescope's time limit; grading ends a minute before (default: 10)",
    )
    parser.set_defaults(no_cache=False)


def _doctor(parser: argparse.ArgumentParser) -> None:
    """After `grader doctor`."""
    parser.set_defaults(sandbox="local")
    parser.add_argument(
        "-o",
        "--out",
        metavar="OUT",
        type=Path,
        help="the folder that a class would be graded into: exit 3 if a class cannot be graded here",
    )
    parser.add_argument(
        "--build-image",
        nargs="?",
        const="build",
        choices=("build", "gpu", "thin"),
        help="make the image that containers are made of (default: build; gpu: with what a GPU needs; "
        "thin: of this machine's own programs)",
    )
    _add_attacks(parser)
    arguments.add_toolchain(parser)


def _add_attacks(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(backend="auto", races=RaceJudge.BOTH)
    group = parser.add_argument_group("does the sandbox hold?")
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
        choices=arguments.SANDBOXES[1:3],
        default=arguments.SANDBOXES[0],
        help="which sandbox they attack (default: the best there is)",
    )
    group.add_argument(
        "--device-code", action="store_true", help="try those of device code, too (they always are on a GPU)"
    )
    group.add_argument(
        "-j", "--jobs", type=arguments.positive, default=2, help="attacks at a time, at most 2"
    )
    group.add_argument(
        "--json", metavar="FILE", type=arguments.writable, help="also write what came of it as JSON"
    )


def _completion(parser: argparse.ArgumentParser) -> None:
    """After `grader completion`."""
    parser.add_argument("shell", choices=_SHELLS, help="the shell that is to complete")


OF_COMMANDS = {
    "check": _check,
    "grade": _grade,
    "report": _report,
    "feedback": _feedback,
    "gradebook": _gradebook,
    "merge": _merge,
    "rescore": _rescore,
    "trace": _trace,
    "estimate": _estimate,
    "list": _list,
    "questions": _questions,
    "validate": _validate,
    "new": _new,
    "export-student": _export_student,
    "export-gradescope": _export_gradescope,
    "doctor": _doctor,
    "completion": _completion,
}
"""The functions by the names of the commands."""
