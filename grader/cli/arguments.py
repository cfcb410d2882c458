"""Arguments that several commands share, and the values that they take."""

from __future__ import annotations

import argparse
import errno
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.text import escaped
from grader.running.backends import AUTO, CHOICES
from grader.toolchain.gpu import RaceJudge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.batch.resume import Shard

ASSIGNMENT = "an id such as tiled-matmul, or a path"
"""The help of an argument that names an assignment."""

FORMATS = ("github", "gcc", "sarif", "gitlab")
"""Formats in which annotations may be printed (`grader.reports.annotations`)."""

PLATFORM_FORMATS = ("prairielearn", "classroom50")
"""Platforms that read one result from standard output (`grader.reports.platforms`)."""

_SIZE = re.compile(r"([A-Za-z_]\w*)=(\d{1,9})")

SANDBOXES = ("auto", "docker", "bubblewrap", "local", "none")


def add_grading(parser: argparse.ArgumentParser) -> None:
    """Add the shared options of `check` and `grade`: how to grade, and what to write."""
    parser.add_argument(
        "--seed",
        type=seed,
        default=None,
        help="decides all random inputs (check: public; grade: drawn and recorded)",
    )
    parser.add_argument(
        "--backend",
        choices=CHOICES,
        default=AUTO,
        help="where kernels run (default: auto: a GPU where there is one)",
    )
    parser.add_argument(
        "--races",
        choices=tuple(map(str, RaceJudge)),
        default=str(RaceJudge.BOTH),
        help="who judges races on a GPU (default: both)",
    )
    parser.add_argument(
        "--sandbox",
        choices=SANDBOXES,
        default=default_sandbox(),
        help="what is around the compiler and around programs (default: auto, the best there is; "
        "local: only limits, for your own files; none: the same)",
    )
    _add_reports(parser)
    add_toolchain(parser)


def _add_reports(parser: argparse.ArgumentParser) -> None:
    """Add the options of reports to write, and of when to fail."""
    parser.add_argument(
        "--format",
        choices=("text", *FORMATS, *PLATFORM_FORMATS),
        default="text",
        help="how to print what is wrong: for people, as GitHub's annotations, in gcc's form for editors, as "
        "SARIF, as GitLab's code quality, or as one submission's result for PrairieLearn or Classroom 50 "
        "(default: text)",
    )
    parser.add_argument(
        "--fail-under",
        metavar="PERCENT",
        type=percent,
        default=None,
        help="exit 1 below this share of the points",
    )
    parser.add_argument(
        "--json", metavar="FILE", type=writable, help="also write the grade (or all grades) as JSON"
    )
    parser.add_argument("--junit", metavar="FILE", type=writable, help="also write JUnit XML")
    parser.add_argument(
        "--junit-dialect",
        choices=("strict", "extended", "items"),
        default="strict",
        help="of --junit: Jenkins' schema; with file and line, as GitLab reads them; a test per item, as "
        "Artemis counts them (default: strict)",
    )
    parser.add_argument("--html", metavar="FILE", type=writable, help="also write a page to look at")


def add_toolchain(parser: argparse.ArgumentParser) -> None:
    """Add the options of the compiler, and of whether its builds are kept."""
    parser.add_argument(
        "--nvcc",
        metavar="PATH",
        default=None,
        help="the nvcc to use (default: the one from PyPI, else the system's)",
    )
    parser.add_argument("--no-cache", action="store_true", help="neither read nor keep builds")


def default_sandbox() -> str:
    """The sandbox where no option names one: GRADER_SANDBOX, else whichever is best here."""
    named = os.environ.get("GRADER_SANDBOX", "")
    return named if named in SANDBOXES else SANDBOXES[0]


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or not 1 <= int(text) < 2**31:
        raise argparse.ArgumentTypeError("expected a whole number of at least 1")
    return int(text)


def sizes(text: str, names: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """`M=8,K=8,N=8` of ``--shape`` in the order of the names; raises UsageError unless each has one size."""
    matches = [_SIZE.fullmatch(part.strip()) for part in text.split(",")]
    given = {match[1]: int(match[2]) for match in matches if match}
    if None in matches or len(given) != len(matches) or set(given) != set(names) or 0 in given.values():
        example = ",".join(f"{name}=8" for name in names)
        raise UsageError(f"--shape {text}: expected each size once, such as {example}")
    return tuple((name, given[name]) for name in names)


def seed(text: str) -> int:
    """A whole number of any size that can be typed."""
    if not re.fullmatch(r"[0-9]{1,99}", text):
        raise argparse.ArgumentTypeError("expected a whole number from 0, of at most 99 digits")
    return int(text)


def shard(text: str) -> Shard:
    """A part of a class, as ``2/8``."""
    numbers = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", text)
    if numbers is None or not 1 <= int(numbers[1]) <= int(numbers[2]):
        raise argparse.ArgumentTypeError("expected a part and how many there are, such as 2/8")
    from grader.classroom.batch.resume import Shard  # noqa: PLC0415 - with all of the grader, which nvcc need not wait for

    return Shard(int(numbers[1]), int(numbers[2]))


def must_be_possible(values: object, source: str = "") -> None:
    """Raise UsageError for a text or path, or one of several, that no file can be called."""
    for value in values if isinstance(values, list | tuple) else (values,):
        if not isinstance(value, str | Path):
            continue
        shown = f"{source}`{escaped(str(value), 100)}`"
        if "\0" in str(value):
            raise UsageError(f"{shown} has a NUL character, which no name may have")
        if isinstance(value, Path):
            try:
                value.lstat()
            except UnicodeError:
                raise UsageError(f"{shown} cannot be written as the name of a file") from None
            except OSError as problem:
                if problem.errno in (errno.ENAMETOOLONG, errno.ELOOP):
                    raise UsageError(f"{shown} is no path: {problem.strerror}") from None


def writable(text: str) -> Path:
    """A file that can be written."""
    path = Path(text)
    try:
        must_be_possible(path)
    except UsageError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written at {text}; its folder must exist")
    return path


def percent(text: str) -> Fraction:
    """A share of 100, with or without the sign."""
    # A number such as 1e999999999 would be written out digit by digit.
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?%?", text):
        raise argparse.ArgumentTypeError("expected a percentage such as 80")
    share = Fraction(text.rstrip("%"))
    if not 0 <= share <= 100:  # noqa: PLR2004 - percent
        raise argparse.ArgumentTypeError("expected a percentage from 0 to 100")
    return share
