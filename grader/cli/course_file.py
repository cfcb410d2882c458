"""``grader.toml``: what is the same for every `grade` and `feedback` of a course, said once.

    roster = "roster.csv"
    adjustments = "adjustments.yaml"
    out = "out"
    sandbox = "docker"
    lms = "moodle"

It is read where the command is typed; paths are meant from there, and what is typed comes first.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from grader.assignment.fields import suggestion
from grader.cli.arguments import SANDBOXES
from grader.course.feedback import KINDS
from grader.errors import UsageError
from grader.text import escaped

if TYPE_CHECKING:
    from collections.abc import Callable

FILE = Path("grader.toml")
_MOST_BYTES = 64 * 1024


def _one_of(key: str, words: tuple[str, ...]) -> Callable[[str], str]:
    def checked(name: str) -> str:
        if name not in words:
            raise UsageError(f"{FILE}: {key}: `{escaped(name)}` is none; {suggestion(name, words)}")
        return name

    return checked


_KEYS: dict[str, Callable[[str], object]] = {
    "roster": Path,
    "adjustments": Path,
    "out": Path,
    "sandbox": _one_of("sandbox", SANDBOXES),
    "lms": _one_of("lms", KINDS),
}


def defaults(path: Path = FILE) -> dict[str, object]:
    """What the file says, by the names of options; nothing where there is none. Raises `UsageError`."""
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as stream:
            settings = tomllib.loads(stream.read(_MOST_BYTES).decode())
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path}: is not TOML that can be read: {escaped(str(problem))}") from None
    for key, value in settings.items():
        if key not in _KEYS:
            raise UsageError(f"{path}: unknown key `{escaped(key)}`; {suggestion(key, _KEYS)}")
        if not isinstance(value, str) or not value:
            raise UsageError(f'{path}: {key}: expected a text in quotes, such as "{key}"')
    return {key: _KEYS[key](value) for key, value in settings.items()}
