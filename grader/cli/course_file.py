"""The course's file `grader.toml`: what it sets, and that it is the staff's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.base.text import escaped, suggestion
from grader.cli.arguments import SANDBOXES, must_be_possible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COURSE_FILE = Path("grader.toml")
"""File of the shared settings of every `grade`, `feedback` and `gradebook` of a course:

    roster = "roster.csv"
    adjustments = "adjustments.yaml"
    out = "out"
    sandbox = "docker"
    lms = "moodle"
    scale = true

It is read where the command is typed; paths are meant from there, and what is typed comes first.
"""

_MOST_BYTES = 64 * 1024
_FLAGS = ("scale",)
"""Keys that are true or false."""


def require_from_staff(*submissions: Path) -> None:
    """Refuse a course's file where a student may have written it: it names decisions about points.

    That is in a folder of ``submissions`` or of grades; beside or below a file or an archive that was handed
    in; and in any folder with sources, for a student's folder is one. Beside the folder of a class stands
    what staff have put there. Raises `UsageError`.
    """
    if not COURSE_FILE.is_file():
        return
    for here in {Path.cwd().resolve(), COURSE_FILE.resolve().parent}:
        for path in filter(Path.exists, submissions):
            _require_apart(here, path)
        for folder in _folders_up(here, [path.resolve() for path in submissions]):
            if source := _source_in(folder):
                raise UsageError(
                    f"{COURSE_FILE}: lies beside or below {escaped(source)}, where a student may have put "
                    "it; type the command in the course's own folder, without sources"
                )


def require_outside_of_class(submission: Path) -> None:
    """Refuse a course's file in another folder beside that of the only ``submission``: another student's."""
    folder = submission.resolve().parent
    here = Path.cwd().resolve()
    if COURSE_FILE.is_file() and here != folder and here.is_relative_to(folder):
        raise UsageError(
            f"{COURSE_FILE}: lies in a folder beside {escaped(str(submission))}, where another student may "
            "have put it; type the command in the course's own folder"
        )


def _require_apart(here: Path, submission: Path) -> None:
    target = submission.resolve()
    if here.is_relative_to(target):
        raise UsageError(
            f"{COURSE_FILE}: lies among the submissions, where a student may have put it; type the command "
            "in the course's own folder"
        )
    parents = () if target.is_dir() else (target.parent, submission.absolute().parent.resolve())
    if any(map(here.is_relative_to, parents)):
        where = "beside" if here in parents else "below the folder of"
        raise UsageError(
            f"{COURSE_FILE}: lies {where} {escaped(str(submission))}, where a student may have put it; move "
            "what was handed in to a folder of its own, such as submissions/"
        )


def _folders_up(here: Path, submissions: list[Path]) -> Iterator[Path]:
    """The folder and those above it, up to where a course's own folder may begin.

    A course's folder holds submissions, or lies in a home folder.
    """
    yield here
    for folder in here.parents if submissions else ():
        if folder == Path.home() or any(path.is_relative_to(folder) for path in submissions):
            return
        yield folder


def _source_in(folder: Path) -> str:
    """The first source file of a folder, by its name; empty where it holds none or cannot be read."""
    from grader.grading.submission import SOURCE  # noqa: PLC0415 - a student has no such file
    from grader.grading.submission.items import ending  # noqa: PLC0415

    try:
        with os.scandir(folder) as entries:
            return min((one.name for one in entries if ending(one.name) in SOURCE.endings), default="")
    except OSError:
        return ""


def defaults(path: Path = COURSE_FILE) -> dict[str, object]:
    """Settings in the file, by the names of options; empty where there is none. Raises `UsageError`."""
    if not path.is_file():
        return {}
    import tomllib  # noqa: PLC0415 - a student has no such file

    try:
        with path.open("rb") as stream:
            settings = tomllib.loads(stream.read(_MOST_BYTES).decode())
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path}: is not TOML that can be read: {escaped(str(problem))}") from None
    readers: dict[str, Callable[[str], object]] = _readers() | dict.fromkeys(_FLAGS, bool)
    for key, value in settings.items():
        if key not in readers:
            raise UsageError(f"{path}: unknown key `{escaped(key)}`; {suggestion(key, readers)}")
        if key in _FLAGS:
            if not isinstance(value, bool):
                raise UsageError(f"{path}: {key}: expected true or false, without quotes")
        elif not isinstance(value, str) or not value:
            raise UsageError(f'{path}: {key}: expected a text in quotes, such as "{key}"')
    values = {key: readers[key](value) for key, value in settings.items()}
    for key, value in values.items():
        must_be_possible(value, f"{path}: {key}: ")
    return values


def in_words() -> tuple[str, ...]:
    """A line about what the file sets, for a folder may look like a course's that is a student's."""
    settings = ", ".join(f"{key} = {escaped(str(value), 60)}" for key, value in defaults().items())
    return (f"{COURSE_FILE} in this folder sets {settings}; what is typed comes first",) if settings else ()


def _readers() -> dict[str, Callable[[str], object]]:
    """Reader of the value of each key."""
    from grader.classroom.course.feedback import KINDS  # noqa: PLC0415 - a student has no such file

    return {
        "roster": Path,
        "adjustments": Path,
        "out": Path,
        "sandbox": _one_of("sandbox", SANDBOXES),
        "lms": _one_of("lms", KINDS),
    }


def _one_of(key: str, words: tuple[str, ...]) -> Callable[[str], str]:
    def checked(name: str) -> str:
        if name not in words:
            raise UsageError(f"{COURSE_FILE}: {key}: `{escaped(name)}` is none; {suggestion(name, words)}")
        return name

    return checked
