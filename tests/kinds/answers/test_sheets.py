"""Files with answers, honest and hostile ones."""

from __future__ import annotations

import json

import pytest

from grader.kinds.answers.sheets import MAX_BYTES, Sheet, read_sheet
from grader.model import Finding


def test_yaml_and_json_say_the_same() -> None:
    """Answers by question, numbers as they were written, and whose sheet it is."""
    expected = Sheet((("a", "64,704 bytes"), ("b", "4.50"), ("c", "")), "ada")
    yaml = b"student: ada\nanswers:\n  a: 64,704 bytes\n  b: 4.50\n  c:\n"
    assert read_sheet("answers.yaml", yaml) == expected
    text = b'{"student": "ada", "answers": {"a": "64,704 bytes", "b": 4.50, "c": null}}'
    assert read_sheet("answers.JSON", text) == expected


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_sheets_in_the_encodings_of_windows_are_read(encoding: str) -> None:
    """Windows PowerShell 5 writes UTF-16 where a sheet is sent into a file."""
    text = "student: Zoë\r\nanswers:\r\n  a: 4\r\n"
    assert read_sheet("answers.yaml", text.encode(encoding)) == Sheet((("a", "4"),), "Zoë")
    quoted = '{"answers": {"a": 4}}'
    assert read_sheet("answers.json", quoted.encode(encoding)) == Sheet((("a", "4"),))


def test_a_sheet_without_an_answer_is_a_sheet() -> None:
    """A sheet as it is handed out can be handed in."""
    assert read_sheet("answers.yml", b"answers:\n") == Sheet(())


HOSTILE = {
    "alias": (b"a: &a [1]\nanswers: *a\n", "`*a` is an alias"),
    "anchor": (b"answers: &a {}\n", "`&a` is an anchor"),
    "tag": (b"answers: {a: !!python/object:os.system 1}\n", "is a tag"),
    "depth": (b"answers: " + b"[" * 3000, "nested more than 12 deep"),
    "twice": (b"answers: {a: 1, a: 2}\n", "`a` is given twice"),
    "two documents": (b"answers: {}\n---\nanswers: {}\n", "a second document"),
    "size": (b"answers:\n" + b"#" * MAX_BYTES, "bytes; expected at most"),
    "not UTF-8": (b"answers: \xff\xfe\xfd", "not UTF-8 text"),
    "no mapping": (b"- 1\n- 2\n", "expected `answers:` with a number for each question"),
    "a list": (b"answers: [1, 2]\n", "found a list"),
    "comment only": (b"# nothing\n", "the file is empty; expected answers"),
    "other keys": (b"answers: {}\nscore: 100\n", "`score` does not belong here"),
    "escape": (b'"\\e[31m": 1\nanswers: {}\n', "does not belong here"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_yaml_is_refused_with_a_message(name: str) -> None:
    """In no time, with the reason, and printable."""
    content, complaint = HOSTILE[name]
    found = read_sheet("answers.yaml", content)
    assert isinstance(found, Finding)
    assert complaint in found.message
    assert found.message.isprintable()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"answers": {"a": 1, "a": 2}}', "`a` is given twice"),
        (b"[" * 30_000, "nested too deeply"),
        (b'{"answers": ', "not valid JSON in line 1"),
        (b'{"answers": "1"}', "found a text"),
    ],
)
def test_hostile_json_is_refused_with_a_message(content: bytes, complaint: str) -> None:
    """Duplicate keys, depth, and what is no JSON."""
    found = read_sheet("answers.json", content)
    assert isinstance(found, Finding)
    assert complaint in found.message


def test_lists_and_numbers_of_any_size_in_place_of_an_answer_are_no_trouble() -> None:
    """They become texts that mean no number, and NaN is one, too."""
    content = json.dumps({"answers": {"a": [1], "b": {"c": 1}, "c": True, "d": float("nan")}}).encode()
    assert read_sheet("a.json", content) == Sheet(
        (("a", "a list"), ("b", "a mapping"), ("c", "true"), ("d", "NaN"))
    )
    huge = read_sheet("a.json", b'{"answers": {"a": ' + b"9" * 20_000 + b"}}")
    assert isinstance(huge, Sheet)
