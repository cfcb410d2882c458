"""Every word about a sheet with answers is a text that the course may say otherwise, or it is data.

All texts are put in brackets, as in `tests.reports.test_every_word`; what stands outside is the file's own.
The message of a parser of YAML or JSON is data, too, as that of a compiler is.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from grader.kinds import pipeline
from grader.kinds.answers.sheets import MAX_BYTES, MOST_ANSWERS, read_sheet, sheet_as_json, sheet_as_text
from grader.kinds.answers.solving import is_drawn
from grader.kinds.answers.stages import readings_of
from grader.model import Finding, HandIn, Submission
from grader.model.messages import TABLES, sentences_of, speaking
from tests.bundled import bundled
from tests.reports.pages import outside_of_brackets

BRACKETED = {name: tuple((key, f"⟦{text}⟧") for key, text in TABLES[name].items()) for name in TABLES}
SENTENCES = sentences_of(tuple(BRACKETED.items()))
SAYING = (*BRACKETED["sheets"], *BRACKETED["checks"])

MANY = "".join(f"  q{number}: 1\n" for number in range(MOST_ANSWERS + 1))
YAML = {
    "alias": b"a: &a [1]\nanswers: *a\n",
    "anchor": b"answers: &a {}\n",
    "tag": b"answers: {a: !!int 1}\n",
    "depth": b"answers: " + b"[" * 99,
    "twice": b"answers: {a: 1, a: 2}\n",
    "no name": b"answers: {[1]: 2}\n",
    "two documents": b"answers: {}\n---\nanswers: {}\n",
    "size": b"#" * (MAX_BYTES + 1),
    "no text": b"answers: \xff\xfe\xfd",
    "a character": b"answers: \x01",
    "no answers": b"[1, 2]\n",
    "a list": b"answers: [1, 2]\n",
    "a text": b"answers: 12\n",
    "nothing": b"# 1\n",
    "other keys": b"answers: {}\na: 100\n",
    "many": f"answers:\n{MANY}".encode(),
}
JSON = {
    "twice": b'{"answers": {"a": 1, "a": 2}}',
    "depth": b"[" * 60_000,
    "a list": b'{"answers": [1]}',
}
PARSERS = {
    "YAML": ("answers.yaml", b"answers: [1\n", "expected ',' or ']', but got '<stream end>'"),
    "JSON": ("answers.json", b"{", "Expecting property name enclosed in double quotes"),
}


def _refused(name: str, content: bytes) -> str:
    with speaking(SENTENCES):
        refused = read_sheet(name, content)
    assert isinstance(refused, Finding)
    assert refused.message.startswith("⟦")
    return re.sub(r"`[^`]*`", "", refused.message)


@pytest.mark.parametrize("name", YAML)
def test_why_a_yaml_file_is_refused(name: str) -> None:
    """All of the message is the course's, for a wrong sheet as for wrong YAML."""
    assert outside_of_brackets(_refused("answers.yaml", YAML[name])) == []


@pytest.mark.parametrize("name", JSON)
def test_why_a_json_file_is_refused(name: str) -> None:
    """As of YAML."""
    assert outside_of_brackets(_refused("answers.json", JSON[name])) == []


@pytest.mark.parametrize("name", PARSERS)
def test_the_message_of_a_parser_is_its_own(name: str) -> None:
    """Within a sentence of ours."""
    file, content, words = PARSERS[name]
    refused = _refused(file, content)
    assert words in refused
    assert outside_of_brackets(refused.replace(words, "")) == []


@pytest.mark.parametrize("unit", ["bytes", ""])
@pytest.mark.parametrize("text", ["1" * 99, "3,5", "1e99", "1/0", "5 zz", "zz", ""])
def test_why_an_answer_is_no_number(text: str, unit: str) -> None:
    """Its length, its comma, its power, its unit."""
    with speaking(SENTENCES):
        readings, problem = readings_of(text, unit)
    assert not readings
    assert outside_of_brackets(re.sub(r"`[^`]*`|\bbytes\b", "", problem)) == []


ASSIGNMENT = bundled("memory-analysis")
DRAWN = next(one.id for one in ASSIGNMENT.answers.questions if is_drawn(ASSIGNMENT.answers, one))
SHEETS = {
    "drawn-for": (f"answers: {{{DRAWN}: 1}}", False),
    "drawn-for-other": (f"student: bob\nanswers: {{{DRAWN}: 1}}", False),
    "drawn-for-somebody": (f"student: bob\nanswers: {{{DRAWN}: 1}}", True),
    "no-question": ("answers: {zz: 1}", False),
    "not-understood": (f"student: ada\nanswers: {{{DRAWN}: [1]}}", False),
    "sheet-unreadable": ("answers: 1", False),
}
"""Sheets by the text that is reported about them; and whether students have no names."""


@pytest.mark.parametrize("name", SHEETS)
def test_the_messages_of_a_grade_about_a_sheet(name: str) -> None:
    """Whole messages are the course's: on the owner of the numbers, unknown questions and wrong answers."""
    sheet, anonymous = SHEETS[name]
    rubric = tuple(replace(item, hint="") for item in ASSIGNMENT.rubric)
    assignment = replace(ASSIGNMENT, rubric=rubric, feedback=tuple(BRACKETED.items()))
    plan = pipeline.make_plan(assignment, 1, None, visible_only=False)
    hand_in = HandIn("x", anonymous=anonymous)
    grade = pipeline.grade(plan, Submission("ada", "a.yaml", sheet.encode(), "", hand_in=hand_in), None)
    results = [item.result for item in grade.items]
    messages = [words for one in results for words in (one.message, *(f.message for f in one.findings))]
    assert all(part in "\n".join(messages) for part in re.split(r"{\w+}", dict(SAYING)[name]))
    assert [words for words in messages if outside_of_brackets(re.sub(r"`[^`]*`", "", words))] == []


def test_a_sheet_to_fill_in() -> None:
    """Beside the course's own questions, ids and units."""
    with speaking(SENTENCES):
        sheet = sheet_as_text(ASSIGNMENT, "ada", 1)
        data = sheet_as_json(ASSIGNMENT, "ada", 1)
    own = [
        data["title"],
        *(question[key] for question in data["questions"] for key in ("text", "id", "unit")),
    ]
    for words in sorted(filter(None, own), key=len, reverse=True):
        sheet = sheet.replace(words, "")
    keys = ("answers.yaml", "answers:", 'student: "ada"', "ada")
    assert outside_of_brackets(re.sub("|".join(map(re.escape, keys)), "", sheet)) == []
