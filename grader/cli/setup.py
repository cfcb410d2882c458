"""What several commands need before they can start: tools, the assignment, and where to write."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from grader.build import Tools, find_toolchain
from grader.errors import StorageError, UsageError
from grader.sandbox import LocalSandbox
from grader.spec import find_assignment, load_assignment

if TYPE_CHECKING:
    import argparse
    from fractions import Fraction
    from pathlib import Path

    from rich.console import Console

    from grader.model import Assignment, Grade

PUBLIC_SEED = 1
"""What `check` draws its inputs from: everybody's self-check sees the same."""


def tools(options: argparse.Namespace) -> Tools:
    """The compiler and its sandbox, as the options ask; raises UsageError for what is not there yet."""
    if options.backend == "gpu":
        raise UsageError("--backend gpu is not available in this version; use --backend emulator (or auto)")
    if options.sandbox == "docker":
        raise UsageError("--sandbox docker is not available in this version; use --sandbox local")
    cache = None if options.no_cache else user_cache_path("cuda-grader") / "builds"
    return Tools(find_toolchain(options.nvcc), LocalSandbox(), cache)


def assignment(options: argparse.Namespace) -> Assignment:
    """The assignment that was named."""
    cache = None if options.no_cache else user_cache_path("cuda-grader") / "assignments"
    return load_assignment(find_assignment(options.assignment), cache)


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A terminal that prints text as it is: nothing that a student wrote is read as markup."""
    from rich.console import Console  # noqa: PLC0415 - loaded when there is something to print

    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def ascii_only() -> bool:
    """Whether the terminal cannot show more than ASCII."""
    return (sys.stdout.encoding or "ascii").lower().replace("-", "") not in ("utf8", "utf16", "utf32")


def below(grade: Grade, fail_under: Fraction | None) -> bool:
    """Whether a grade is below the asked share of what could be judged (without one: below all of it)."""
    if fail_under is None:
        return grade.score < grade.max_score
    return grade.score * 100 < fail_under * grade.max_score


def write(path: Path | None, text: str) -> None:
    """Write a file that an option named, if it did."""
    if path is None:
        return
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as problem:
        raise StorageError(f"{path}: cannot be written: {problem.strerror}") from None
