"""The words of a sheet with questions, why one with answers cannot be read, and why an answer is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_DOCUMENT: Mapping[str, str] = {
    "document-empty": "the file is empty; expected {expected}",
    "document-second": "a second document starts here; expected one to a file",
    "document-alias": "`*{name}` is an alias; write the value out instead",
    "document-deep": "nested more than {most} deep",
    "document-anchor": "`&{name}` is an anchor; expected a plain value",
    "document-tag": "`{name}` is a tag; expected a plain value",
    "document-nameless": "expected a name before the colon",
    "document-twice": "`{name}` is given twice, first in line {line}",
    "document-character": "character {character} is not allowed in YAML",
    "document-no-yaml": "not valid YAML: {problem}",
    "document-no-text": "not UTF-8 text",
}
"""What is wrong with a YAML file; ``problem`` is what its parser says."""

_SHEET: Mapping[str, str] = {
    "sheet-unreadable": "the answers cannot be read: {reason}",
    "sheet-answers": "answers",
    "sheet-wanted": "`answers:` with a number for each question",
    "sheet-large": "the file has {bytes:,} bytes; expected at most {most:,}",
    "sheet-deep": "it is nested too deeply",
    "sheet-no-json": "not valid JSON: {problem}",
    "sheet-no-json-from-line": "not valid JSON in line {line}: {problem}",
    "sheet-twice": "`{key}` is given twice",
    "sheet-no-answers": "expected {wanted}; `grader questions` prints a sheet to fill in",
    "sheet-strange-key": "`{key}` does not belong here; answers stand below `answers:`",
    "sheet-is-list": "expected {wanted}, and found a list",
    "sheet-is-text": "expected {wanted}, and found a text",
    "sheet-many": "expected at most {most:,} answers, found {number:,}",
    "sheet-list": "a list",
    "sheet-mapping": "a mapping",
}

_ANSWERS: Mapping[str, str] = {
    "number-wanted": "expected a number such as 64,704 or 4.72e6 or 1/16, with a unit if you like",
    "number-long": "this is longer than a number: {wanted}",
    "number-comma": "a comma separates thousands here: write the fraction with a point, 3.5",
    "number-power": "a power of ten beyond {most} is not believed: {wanted}",
    "number-by-zero": "nothing can be divided by 0",
    "number-unit": "the unit `{written}` is not understood: expected {unit}",
    "number-no-unit": "the unit `{written}` is not understood: expected a number without a unit",
    "no-question": "`{name}` is no question of this assignment",
    "drawn-for": (
        "the numbers are those of `{student}`, after the name of what was handed in; for a self-check write "
        "whose they are into the file, as `student: NAME`"
    ),
    "drawn-for-other": "the sheet is that of `{named}`, the numbers are those of `{student}`",
    "drawn-for-somebody": "the sheet is that of somebody else than whoever handed it in",
}
"""Of an answer, and of the numbers that its question has."""

_QUESTIONS: Mapping[str, str] = {
    "questions-for": "{title}: questions for {student}",
    "questions-points": "{points} points",
    "questions-points-one": "{points} point",
    "questions-together": "{points} for {number} together",
    "questions-own": "{points}, your own numbers",
    "questions-fill-in": "Fill in and hand in as {file}:",
    "questions-number": "a number",
}

TEXTS: Mapping[str, str] = {**_DOCUMENT, **_SHEET, **_ANSWERS, **_QUESTIONS}
"""By name, with fields for what is filled in; ``-one`` is for a ``count`` of 1."""
