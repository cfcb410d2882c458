"""The bytes of a file with answers → texts by question. The file is hostile: whatever it is, this ends soon.

YAML is read as assignments are: mappings, lists and scalars, without aliases, anchors and tags, and no deeper
than there is any reason for. JSON is read by the standard library, with numbers as they were written.
"""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.assignment import document
from grader.assignment.document import UnreadableDocument
from grader.model import Finding, FindingKind
from grader.submission import decode
from grader.submission.names import ending
from grader.text import escaped

if TYPE_CHECKING:
    from grader.model import Named

MAX_BYTES = 64 * 1024
"""The largest file that is read: a hundred answers take five."""

MOST_ANSWERS = 1000

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""What PowerShell writes where `grader questions --template` is sent into a file."""

WANTED = "`answers:` with a number for each question"


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a file holds: the texts of the answers by question, and whose sheet it says it is."""

    answers: Named[str]
    student: str = ""


class _Unreadable(Exception):  # noqa: N818 - says what the file is
    """Why the file is not read; never leaves this module."""


def read_sheet(name: str, content: bytes) -> Sheet | Finding:
    """The answers in a file, or what is wrong with it."""
    line = None
    try:
        _require_size(content)
        data = _json(content) if ending(name) == ".json" else _yaml(content)
        return _sheet(data)
    except UnreadableDocument as refused:
        line, message = refused.position.line, refused.message
    except _Unreadable as problem:
        message = str(problem)
    return Finding(
        FindingKind.ANSWER, f"the answers cannot be read: {escaped(message, 300)}", file=name, line=line
    )


def _require_size(content: bytes) -> None:
    if len(content) > MAX_BYTES:
        raise _Unreadable(f"the file has {len(content):,} bytes; expected at most {MAX_BYTES:,}")


def _yaml(content: bytes) -> Any:  # noqa: ANN401 - whatever is in it
    text = decode(content).encode() if content.startswith(_UTF16) else content
    root, flaws = document.read_document(text, "answers")
    if flaws:
        position, path, message = min(flaws)
        raise UnreadableDocument(f"{path}: {message}" if path else message, position)
    return document.plain(root)


def _json(content: bytes) -> Any:  # noqa: ANN401 - whatever is in it
    try:
        return json.loads(
            decode(content),
            object_pairs_hook=_distinct,
            parse_int=str,
            parse_float=str,
            parse_constant=str,
        )
    except RecursionError:
        raise _Unreadable("it is nested too deeply") from None
    except ValueError as error:
        where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise _Unreadable(f"not valid JSON{where}: {reason}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, held in pairs:
        if key in found:
            raise _Unreadable(f"`{escaped(key, 60)}` is given twice")
        found[key] = held
    return found


def _sheet(data: Any) -> Sheet:  # noqa: ANN401 - whatever was in the file
    if not isinstance(data, dict) or "answers" not in data:
        raise _Unreadable(f"expected {WANTED}; `grader questions` prints a sheet to fill in")
    unknown = [key for key in data if key not in ("answers", "student", "assignment")]
    if unknown:
        raise _Unreadable(
            f"`{escaped(str(unknown[0]), 60)}` does not belong here; answers stand below `answers:`"
        )
    answers = data["answers"]
    if answers is None or answers == "":
        answers = {}
    if not isinstance(answers, dict):
        raise _Unreadable(
            f"expected {WANTED}, and found {'a list' if isinstance(answers, list) else 'a text'}"
        )
    if len(answers) > MOST_ANSWERS:
        raise _Unreadable(f"expected at most {MOST_ANSWERS:,} answers, found {len(answers):,}")
    student = data.get("student")
    texts = tuple((str(key), _text(held)) for key, held in answers.items())
    return Sheet(texts, student if isinstance(student, str) else "")


def _text(held: Any) -> str:  # noqa: ANN401 - whatever was in the file
    """The text of an answer; a list or a mapping is none, and shown as what it is."""
    if held is None:
        return ""
    if isinstance(held, str):
        return held.strip()
    if isinstance(held, bool):
        return str(held).lower()
    return "a list" if isinstance(held, list) else "a mapping"
