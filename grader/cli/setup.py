"""Preparations of several commands: tools, the assignment, and the output folder."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from grader.base.data_files import caches_folder
from grader.base.errors import OurError, StorageError, UsageError
from grader.base.text import count, quoted
from grader.grading.assignment import find_assignment, load_assignment
from grader.grading.assignment.bundled import recorded_assignment, require_staff_files
from grader.grading.submission import read_submission, wanted_by
from grader.kinds import kind_of
from grader.reports.wording import unscored
from grader.running import backends
from grader.toolchain import sandbox_choice
from grader.toolchain.nvcc.cache import builds_folder
from grader.toolchain.sandbox.stopping import StoppableSandbox

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from fractions import Fraction
    from pathlib import Path

    from rich.console import Console

    from grader.classroom.batch import OutFolder
    from grader.model import Assignment, Grade, Submission
    from grader.reports.excerpts import Further
    from grader.reports.files import Text
    from grader.running.backends import Backend
    from grader.toolchain.gpu.devices import Gpu
    from grader.toolchain.nvcc import Tools

OURS, ASKS = OurError.exit_code, UsageError.exit_code
"""Exit codes of a command that failed by our fault, and of one that has a question to staff."""

PUBLIC_SEED = 1
"""Seed from which `check` draws its inputs: the self-check of every student sees the same."""


def tools(options: argparse.Namespace, gpus: tuple[Gpu, ...] = (), *, strangers: bool = False) -> Tools:
    """The compiler and its sandbox, as the options ask; ``strangers`` says whose files they are for.

    The compiler makes PTX for the oldest of the ``gpus``, where that is older than usual. Raises ToolMissing
    for what is not there.
    """
    cache = None if options.no_cache else builds_folder()
    return sandbox_choice.tools_for(gpus, options.sandbox, options.nvcc, cache, strangers=strangers)


def tools_for_class(options: argparse.Namespace, gpus: tuple[Gpu, ...], number: int) -> Tools:
    """`tools` for ``number`` submissions of strangers; says what is around them, warns where nothing is.

    Raises UsageError where nothing is around them and the files are not declared trusted.
    """
    chosen = tools(options, gpus, strangers=True)
    sandbox_choice.must_be_trusted(chosen.sandbox, number, trusted=options.i_trust_these_files)
    if not chosen.sandbox.shuts_in:
        _warn(sandbox_choice.exposure(sandbox_choice.STRANGERS))
    elif chosen.sandbox.name != options.sandbox:  # it was ours to choose
        _warn(f"sandbox: {chosen.sandbox.name}")
    return chosen


def tools_for_own_file(
    options: argparse.Namespace, assignment: Assignment, gpus: tuple[Gpu, ...] = ()
) -> Tools:
    """`tools` for a file of one's own; warns where its host code runs and nothing is around it."""
    chosen = tools(options, gpus)
    if kind_of(assignment).runs_host_code and not chosen.sandbox.shuts_in:
        _warn(sandbox_choice.exposure(sandbox_choice.OWN))
    return chosen


def _warn(sentence: str) -> None:
    console(stderr=True).print(sentence, soft_wrap=True)


def gpus(options: argparse.Namespace) -> tuple[Gpu, ...]:
    """The GPUs to grade on; says why none is used where there is one. Raises as `backends.usable_gpus`."""
    fit, why_none = backends.usable_gpus(options.backend)
    if why_none:
        console(stderr=True).print(f"graded on the emulator, not on {why_none}")
    return fit


def backend(options: argparse.Namespace, tools: Tools, gpus: tuple[Gpu, ...]) -> Backend:
    """The backend that the options ask for, ready to run on these GPUs."""
    return backends.prepare(options.backend, tools, gpus, options.races)


def on_trial(backend: Backend, tools: Tools, stop_file: Path) -> Backend:
    """The backend with the GPUs that passed their trial, as before a batch; the others are reported.

    Raises OurError where nothing of it can be trusted, with what was wrong, and where ``stop_file`` is there.
    """
    fit, problems = backend.tried(replace(tools, sandbox=StoppableSandbox(tools.sandbox, stop_file)))
    if stop_file.exists():
        raise OurError("the trial of the GPUs was stopped")
    for problem in problems:
        console(stderr=True).print(f"not used: {problem}")
    return fit


def assignment(options: argparse.Namespace) -> Assignment:
    """The assignment that was named."""
    return load_assignment(find_assignment(options.assignment), assignment_cache(options))


def assignment_cache(options: argparse.Namespace) -> Path | None:
    """The folder that assignments which were read are kept in; None where nothing is kept."""
    caches = None if options.no_cache else caches_folder()
    return None if caches is None else caches / "assignments"


def staff_assignment(options: argparse.Namespace) -> Assignment:
    """The assignment that was named; raises UsageError where only what students have is installed."""
    require_staff_files(find_assignment(options.assignment))
    return assignment(options)


def graded_assignment(argument: str | None, out: OutFolder) -> Assignment:
    """The assignment as it is now, by what the user calls it or else by what the journal says of it.

    Raises UsageError where there is none, or it is another one than was graded.
    """
    session = out.graded_session()
    try:
        if argument:
            path = find_assignment(argument)
        else:
            path = recorded_assignment(session.assignment, out.journal().assignment_path)
    except UsageError as problem:
        hint = "" if argument else "; name the assignment that was graded with --assignment"
        raise UsageError(f"{problem}{hint}") from None
    require_staff_files(path)
    assignment = load_assignment(path)
    if assignment.id != session.assignment:
        raise UsageError(f"{path} is `{assignment.id}`, and what was graded is `{session.assignment}`")
    return assignment


def only_submission(
    path: Path, assignment: Assignment, command: str, *, for_platform: bool = False
) -> Submission:
    """The one that was handed in; raises UsageError where there are several, or none.

    A folder or an archive may be what one student hands in, as it would lie in a class. A platform is to get
    a result in any case, and what is wrong with the submission is what it says (``for_platform``).
    """
    submission = read_submission(path, wanted_by(assignment.interface))
    if submission.problem is None or (for_platform and path.exists()):
        return submission
    from grader.cli.downloads import download  # noqa: PLC0415 - one file is no download

    whole = download(path, assignment)
    if len(whole.submissions) == 1 and not whole.questions:
        return whole.submissions[0]
    several = f"holds {count(len(whole.submissions), 'submission')}"
    if whole.questions:
        several += ", and more of which it is in doubt whose it is"
    raise UsageError(
        f"{path}: {several}; `{command}` takes one, `grade` takes a class. "
        f"As one student's it is refused: {submission.problem.message}"
    )


def seed(options: argparse.Namespace, assignment: Assignment) -> int | None:
    """The seed of the command line; else that of the questions, the same for the sheet and the grade."""
    if options.seed is None and assignment.interface.asks_questions:
        return assignment.answers.seed
    option: int | None = options.seed
    return option


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A terminal that prints text as it is: nothing that a student wrote is read as markup."""
    from rich.console import Console  # noqa: PLC0415 - loaded when there is something to print

    return Console(stderr=stderr, width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def is_watched(screen: Console) -> bool:
    """True if repeated drawing is seen as meant: FORCE_COLOR is about colours, in a log, too."""
    return screen.is_terminal and screen.file.isatty()


def ascii_only() -> bool:
    """True if the terminal cannot show more than ASCII."""
    return (sys.stdout.encoding or "ascii").lower().replace("-", "") not in ("utf8", "utf16", "utf32")


def below(grade: Grade, fail_under: Fraction | None) -> bool:
    """True if a grade is below the given share of what could be judged (default: below all of it)."""
    if fail_under is None:
        return grade.score < grade.max_score
    return grade.score * 100 < fail_under * grade.max_score


def write(path: Path | None, text: Text) -> None:
    """Write a file that an option named, if it did; a text that is large may come in parts."""
    if path is None:
        return
    try:
        with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines((text,) if isinstance(text, str) else text)
    except OSError as problem:
        raise StorageError(f"{path}: cannot be written: {problem.strerror}") from None


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file that an option named, such as an archive."""
    try:
        path.write_bytes(content)
    except OSError as problem:
        raise StorageError(f"{path}: cannot be written: {problem.strerror}") from None


def write_into(path: Path, text: str) -> None:
    """Write a file into a folder that may have to be made."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise StorageError(f"{path.parent}: cannot be written: {problem.strerror}") from None
    write(path, text)


def require_folder(folder: Path) -> None:
    """Raise UsageError where something else stands in the place of a folder that is to be written into."""
    if any(part.exists() and not part.is_dir() for part in (folder, *folder.parents)):
        raise UsageError(f"{folder}: is no folder; choose another one")


def print_for_platform(
    options: argparse.Namespace, grade: Grade, source: Sequence[str], further: Further
) -> int:
    """Print the result of a submission as --format asks; 0 with a grade, 1 below --fail-under, 3 without one.

    Judges take another exit code than 0 for a grader that failed, regardless of the score.
    """
    from grader.reports import platforms  # noqa: PLC0415 - for these formats only

    if options.format == "prairielearn":
        sys.stdout.write(platforms.prairielearn(grade, source, further))
    else:
        sys.stdout.write(platforms.classroom50(grade, os.environ, datetime.now(UTC)))
    from grader.reports.audience import student_view  # noqa: PLC0415 - as above

    shown = student_view(grade)  # its student may read the exit code
    if unscored(shown):
        return OurError.exit_code
    return int(options.fail_under is not None and below(shown, options.fail_under))


def say_removed(names: Sequence[str], out: Path) -> None:
    """Say whose grades were moved out of a class."""
    if names:
        sentence = f"no longer in the class, moved to {out}/removed: {quoted(names)}"
        console(stderr=True).print(sentence, soft_wrap=True)


def print_class(grades: Sequence[Grade], *, resumed: int, out: Path, width: int | None = None) -> None:
    """Print the table of the class in the course's words, and where its reports are in a command's own."""
    from grader.reports import class_table  # noqa: PLC0415 - of one student there is no table

    screen = console(width=width)
    screen.print(class_table.render_class(grades, width=screen.width, ascii_only=ascii_only()), end="")
    if resumed:
        screen.print(f"{resumed} of {len(grades)} were graded before and are unchanged.", soft_wrap=True)
    if grades:
        seed = grades[0].seed
        screen.print(
            f"seed {seed}: with --seed {seed} another folder is graded on the same cases", soft_wrap=True
        )
    folders = (
        f"\nfor the class   {out}/index.html, gradebook.csv, junit.xml: for staff only",
        f"per submission  {out}/grades/<submission>/report.html, results.json, junit.xml;",
        "                staff.html, record.json, grade.json show hidden cases: for staff",
    )
    for folder in folders:
        screen.print(folder, soft_wrap=True)
