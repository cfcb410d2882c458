"""Whatever students control stays text in every report, as the parsers of those who read it see it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import lxml.html
import pytest
from lxml import etree
from rich.console import Console

from grader.base.text import UNSEEN, is_visible, many_lines
from grader.grading import score
from grader.model import (
    Advice,
    AdviceKind,
    CheckResult,
    Finding,
    FindingKind,
    Grade,
    RubricItem,
    Verdict,
)
from grader.reports import class_page, class_table, grade_json, html, junit, platforms, record_json, text
from grader.reports.audience import student_view
from grader.reports.class_table import render_class
from tests.reports.payloads import PAYLOADS
from tests.reports.sample_estimates import ESTIMATE, UNKNOWN_OPCODE
from tests.reports.sample_grades import ITEMS, SOURCE, full_marks, our_error, with_staff_texts
from tests.reports.test_speed import TIMED as TIMING
from tests.reports.test_speed import timed

if TYPE_CHECKING:
    from collections.abc import Callable

TIMED = timed()
BENIGN = "plain words"
LITERAL = 75
"""A payload of so few visible characters must be there word by word."""

LINK = re.compile(
    r"grades/[^/?#:]+/(?:report|staff)\.html|#[a-z]+(-\d+)?|https://docs\.nvidia\.com/[\w/.#-]+"
)
"""The links that a page may have: to a submission's page, to a part of itself, to a chapter of a manual."""

FINDING = Finding(
    FindingKind.RACE,
    "two threads write it",
    file="grace.cu",
    line=9,
    other_line=13,
    case="mp3",
    address="As[1]",
)


def _failing(
    findings: tuple[Finding, ...] = (FINDING,),
    message: str = "wrong",
    hint: str = "",
    item: RubricItem = ITEMS[3],
) -> Grade:
    """A grade with one failed item, timed on a GPU."""
    grade = replace(TIMED, submission_id="grace", submission_file="grace.cu")
    failed = CheckResult(item, Verdict.FAIL, Fraction(0), message, hint, findings, (("mp3", Verdict.FAIL),))
    results = [each.result for each in grade.items]
    results[ITEMS.index(item)] = failed
    total = score.total(results)
    return with_staff_texts(replace(grade, items=total.items, score=total.score, verdict=total.verdict))


def _program(words: str) -> Grade:
    """A grade with a message of a check of a program: it quotes a line of the output, and a file's name."""
    message = f"line 3 of the standard output should be `4` but is `{words}`"
    finding = Finding(FindingKind.WRONG_OUTPUT, f"{message}; it also wrote `{words}`", case="mp3")
    return _failing((finding,), message, f"print `4`, not `{words}`", ITEMS[2])


def _timing(words: str) -> Grade:
    """A grade with the free-form results of a job on a GPU: a sentence and details."""
    grade = _failing()
    details = (("clocks", [{"note": words}]),)
    timing = replace(TIMING, findings=(replace(FINDING, message=words),), details=details)
    return replace(grade, timing=timing)


def _estimated(words: str) -> Grade:
    """A grade with an estimate for a device of that name, beside a baseline of that name."""
    return replace(full_marks(), estimate=replace(ESTIMATE, device_name=words, baseline=words))


def _not_estimated(words: str) -> Grade:
    """An instruction that the model does not know: it is read from what was handed in."""
    return replace(full_marks(), estimate=replace(UNKNOWN_OPCODE, details=(("opcode", words),)))


FIELDS: dict[str, Callable[[str], Grade]] = {
    "id": lambda words: replace(_failing(), submission_id=words),
    "file": lambda words: replace(_failing(), submission_file=words),
    "file of a right kernel": lambda words: replace(full_marks(), submission_file=words, submission_id=words),
    "our error": lambda words: replace(our_error(), error=words, submission_file=words),
    "message of an item": lambda words: _failing(message=words),
    "hint of an item": lambda words: _failing(hint=words),
    "message of a finding": lambda words: _failing((replace(FINDING, message=words),)),
    "named mistake": lambda words: _failing((replace(FINDING, kind=FindingKind.MISTAKE, message=words),)),
    "compiler message": lambda words: _failing(
        (Finding(FindingKind.COMPILE, f'identifier "{words}" is undefined', file=f"{words}.h", line=3),),
        f"2 errors, the first: {words}",
        item=ITEMS[0],
    ),
    "file of a finding": lambda words: _failing((replace(FINDING, file=words),)),
    "element": lambda words: _failing((replace(FINDING, address=f"{words}[3]"),)),
    "repair": lambda words: _failing((replace(FINDING, repair=words),)),
    "advice": lambda words: replace(
        full_marks(), advice=(Advice(AdviceKind.COALESCING, words, file=words, line=9, array=words),)
    ),
    "witness": lambda words: replace(_failing(), witnesses=(("memcheck", words),)),
    "timing": _timing,
    "estimate": _estimated,
    "instruction that is not known": _not_estimated,
    "output of a program": _program,
    "source": lambda _words: _failing(),
}
"""The fields that a student can write into, and what stands behind them: the places of a payload."""


def _source(field: str, words: str) -> list[str]:
    return [words] * len(SOURCE) if field == "source" else list(SOURCE)


# --- what the parsers of a report's readers see ---------------------------------------------------------


def _shown(page: str) -> str:
    """A text that reaches a terminal or a reader: nothing in it acts or hides."""
    assert page.replace("\n", "").isprintable()
    assert UNSEEN.search(page) is None
    return page


def _terminal(grade: Grade, source: list[str]) -> tuple[object, str]:
    page = text.render(grade, audience="staff", source_lines=source) + render_class([grade])
    return None, _shown(page.plain)


def _pages(grade: Grade, source: list[str]) -> tuple[object, str]:
    seen, words = [], ""
    for page in (
        html.render(grade, source_lines=source),
        class_page.render([grade], source_of=lambda _: source),
    ):
        _shown(page)
        root = lxml.html.document_fromstring(page)
        for element in root.iter():
            attributes = {name: value for name, value in element.attrib.items() if name != "href"}
            if element.tag == "code":  # what stands in backticks, a student's as well
                assert not attributes
            else:
                seen.append((element.tag, attributes))
        links = [str(element.get("href")) for element in root.iter("a")]
        assert all(LINK.fullmatch(link) for link in links)
        words += root.text_content()
    return seen, words


def _xml(grade: Grade, source: list[str]) -> tuple[object, str]:  # noqa: ARG001 - it quotes none
    document = junit.render([student_view(grade), grade])
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    root = etree.fromstring(document.encode(), parser)
    assert root.getroottree().docinfo.doctype == ""
    assert root.getprevious() is None
    words = [
        str(value) for element in root.iter() for value in (*element.attrib.values(), element.text or "")
    ]
    for output in root.iter("system-out"):
        assert re.fullmatch(r"\s*(\[\[PROPERTY\|(max_)?points=[\d.]+\]\]\s*)+", output.text or "")
    for result in (*root.iter("failure"), *root.iter("error"), *root.iter("skipped")):
        assert not re.search(r"\[\[\w+\|", f"{result.get('message')}{result.text}")
    return [(element.tag, sorted(element.attrib)) for element in root.iter()], _shown("\n".join(words))


def _spreadsheet(grade: Grade, source: list[str]) -> tuple[object, str]:  # noqa: ARG001 - it quotes none
    document = _shown(class_table.gradebook([grade, full_marks()]))
    rows = list(csv.reader(io.StringIO(document), strict=True))
    for row in rows:
        for cell in row:
            for part in cell.split(";"):  # some read the file with this separator
                assert not re.match(r"[\s\"']*[=+\-@|%＝＋－＠]", part) or part.lstrip(' "').startswith("'")
    return [len(row) for row in rows], "\n".join(cell for row in rows for cell in row)


def _gradescope(grade: Grade, source: list[str]) -> tuple[object, str]:  # noqa: ARG001 - it quotes none
    document = platforms.gradescope(grade)
    assert document.isascii()
    results = _strict(document)
    assert results["output_format"] == "text"
    assert all(test["output_format"] == "text" for test in results["tests"])
    words = [results["output"], *(test["output"] for test in results["tests"])]
    return _keys(results), _shown("\n".join(words + [test["name"] for test in results["tests"]]))


def _stored(grade: Grade, source: list[str]) -> tuple[object, str]:  # noqa: ARG001 - it quotes none
    """A file for programs: it holds the very words, but nothing that acts where the file is printed."""
    document = grade_json.dump(grade)
    stored = _strict(_shown(document).encode().decode())
    assert _strict("".join(grade_json.dump_all([grade]))) == [stored]
    return _keys(stored), "\n".join(_texts(stored))


def _strict(document: str) -> Any:  # noqa: ANN401 - JSON
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    return json.loads(document, parse_constant=pytest.fail, object_pairs_hook=distinct)


def _keys(value: Any) -> object:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        return {key: _keys(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_keys(held) for held in value]
    return type(value).__name__ if isinstance(value, str) else value


def _texts(value: Any) -> list[str]:  # noqa: ANN401 - JSON
    if isinstance(value, dict | list):
        return [
            each for held in (value.values() if isinstance(value, dict) else value) for each in _texts(held)
        ]
    return [value] if isinstance(value, str) else []


REPORTS: dict[str, Callable[[Grade, list[str]], tuple[object, str]]] = {
    "terminal": _terminal,
    "html": _pages,
    "junit": _xml,
    "csv": _spreadsheet,
    "gradescope": _gradescope,
    "json": _stored,
}
"""By report: its structure, which no text may change, and all the words that its reader gets."""


SHOWN = {
    "terminal": set[str](),  # it wraps lines where it must
    "html": set(FIELDS) - {"witness", "timing", "element"},
    "junit": set(FIELDS) - {"witness", "timing", "element", "source", "repair", "advice"},
    "csv": {"id", "file", "our error"},
    "gradescope": set[str](),
    "json": set(FIELDS) - {"source"},
}
"""The fields whose words must be found in a report."""

ALTERED = {
    "csv": {"semicolon", "semicolon-quote"},
    "junit": {"property", "attachment"},
}
"""Payloads that a report shows with a character more, so that they mean nothing."""


@cache
def _benign(field: str, report: str, words: str) -> object:
    return REPORTS[report](FIELDS[field](words), _source(field, words))[0]


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(payload, marks=[pytest.mark.slow] if number % 6 else [])
        for number, payload in enumerate(PAYLOADS)
    ],
)
def test_a_payload_stays_text(payload: str, report: str) -> None:
    """In every field: the structure is that with plain words instead, and what can be seen is all there."""
    words = PAYLOADS[payload]
    benign = f"{BENIGN}\n{BENIGN}" if "\n" in words else BENIGN  # messages of several lines are set apart
    for field, make in FIELDS.items():
        structure, shown = REPORTS[report](make(words), _source(field, words))
        assert structure == _benign(field, report, benign), f"{payload} in {field} changes {report}"
        if _is_kept(field, report, words, payload):
            as_sentence = words[:1].upper() + words[1:]  # which begins with a capital letter on a page
            assert words in shown or as_sentence in shown, f"{payload} in {field} is lost in {report}"


def _is_kept(field: str, report: str, words: str, payload: str) -> bool:
    """Return whether the very words must be there: visible and short, in a field that the report shows."""
    seen = words.strip() == words and len(words) < LITERAL and all(map(is_visible, words))
    return seen and field in SHOWN[report] and payload not in ALTERED.get(report, ())


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_terminal_gets_colours_and_nothing_else(payload: str) -> None:
    """With colour the same characters are printed: no link, no title, no markup that a name brought along."""
    words = PAYLOADS[payload]
    page = text.render(_program(words), source_lines=[words] * 20)
    out = io.StringIO()
    Console(file=out, width=100, force_terminal=True, color_system="truecolor").print(page, end="")
    assert re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()) == page.plain


@pytest.mark.parametrize("payload", [name for name in PAYLOADS if name != "surrogates"])
def test_a_stored_payload_comes_back_as_it_was(payload: str) -> None:
    """record.json holds what it was given, and grade.json made of it is the same."""
    for field in ("id", "our error", "message of a finding", "advice", "timing"):
        grade = FIELDS[field](PAYLOADS[payload])
        stored = record_json.load(record_json.dump(grade))
        assert grade_json.dump(stored) == grade_json.dump(grade)
        assert (stored.submission_id, stored.error) == (grade.submission_id, grade.error)
        assert stored.items[3].result.findings == grade.items[3].result.findings
        assert stored.advice == grade.advice


def test_a_file_name_that_is_not_utf_8_comes_back() -> None:
    """Its bytes are lone surrogates, which no text of UTF-8 can hold; by the name the folder is found."""
    name = os.fsdecode(b"caf\xe9")
    stored = record_json.dump(replace(full_marks(), submission_id=name))
    assert record_json.load(stored.encode().decode(), "record.json", name).submission_id == name


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "opening", ["\x1b]", "\x1b[", "\x1bP", "\x1b", "[[", ";", "&", "\x1b]8;;", "a;'", "; "]
)
def test_no_text_is_slow_to_make_harmless(opening: str) -> None:
    """Work grows with the length of a text: with its square this would take hours."""
    words = opening * 500_000 + "\n"
    assert all(map(str.isprintable, many_lines(words, 10**6).split("\n")))
    assert junit._plain(words)
    assert class_table.SEPARATED_FORMULA.sub("", words)
