"""The staff's tables as they are read from files: YAML with the place of everything in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.base.errors import UsageError
from grader.grading.assignment import document

if TYPE_CHECKING:
    from pathlib import Path

    from grader.grading.assignment.document import Node


def read(path: Path) -> Node | None:
    """Read a file, every value as text; None where there is none, or nothing in it.

    Raises UsageError where it cannot be read; says which line.
    """
    try:
        content = path.read_bytes()
        if all(line.strip()[:1] in {b"", b"#"} for line in content.splitlines()):
            return None
        return document.read_sound(content, "a table")
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise UsageError(f"{path}: cannot be read: {problem.strerror}") from None
    except document.UnreadableDocument as refused:
        at = refused.position
        raise UsageError(f"{path}:{at.line}:{at.column}: {refused.message}") from None
