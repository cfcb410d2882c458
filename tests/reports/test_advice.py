"""Repairs and advice in the reports: shown where there are any, kept in grade.json, absent where not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.model import Advice, AdviceKind, Grade
from grader.reports import grade_json, html, record_json, text
from tests.reports.pages import words_of
from tests.reports.sample_grades import SOURCE, full_marks, missing_barrier, with_staff_texts

if TYPE_CHECKING:
    from tests.conftest import Golden

REPAIR = (
    "add `__syncthreads()` at the end of the loop that begins on line 7, before the `}` on line 14: tried,"
    " and the race is gone"
)
ADVICE = (
    Advice(
        AdviceKind.BANK_CONFLICTS,
        "the threads of a warp use `B_tile` 64 bytes apart, so that a request takes 8 passes instead of 1",
        "ada.cu",
        13,
        "B_tile",
        0.75,
    ),
    Advice(AdviceKind.COALESCING, "neighbouring threads read `A` 192 bytes apart", "ada.cu", 9, "A", 0.5),
    Advice(AdviceKind.DIVERGENCE, "at half of the branches the threads of a warp part", "ada.cu", 7),
    Advice(AdviceKind.UNNEEDED_BARRIER, "this barrier is not needed \x1b[31m<b>", "ada.cu", 11),
)


def advised() -> Grade:
    """Full marks, and more advice than a report shows."""
    return replace(full_marks(), advice=ADVICE)


def repaired(hint: str) -> Grade:
    """A missing barrier, with a repair in its first finding; ``hint`` is that of the item."""
    grade = missing_barrier()
    result = grade.items[3].result
    findings = (replace(result.findings[0], repair=REPAIR), *result.findings[1:])
    items = list(grade.items)
    items[3] = replace(items[3], result=replace(result, findings=findings, hint=hint))
    return with_staff_texts(replace(grade, items=tuple(items)))


def test_advice_stands_at_the_end_with_its_lines(golden: Golden) -> None:
    """Three at most, wrapped, and harmless; the report states that it costs nothing."""
    golden("reports/advice.txt", text.render(advised(), width=80, source_lines=SOURCE).plain)


def test_advice_is_on_the_page_for_a_browser() -> None:
    """As a list; what could be markup is not."""
    shown = html.render(replace(advised(), advice=ADVICE[1:]), source_lines=SOURCE)
    assert "<li>Line 9: neighbouring threads read <code>A</code> 192 bytes apart</li>" in shown
    assert "<b>fast" not in shown
    assert "\x1b" not in shown
    assert "Advice" not in html.render(full_marks())


def test_a_repair_that_the_hint_does_not_tell_stands_under_its_finding() -> None:
    """In the terminal and in the browser."""
    grade = repaired("see the lecture")
    plain = " ".join(text.render(grade, source_lines=SOURCE).plain.split())
    assert f"try: {REPAIR}" in plain
    assert f"Try: {REPAIR.replace('`', '')}" in words_of(html.render(grade))


def test_a_repair_that_is_the_hint_is_reported_once() -> None:
    """The hint writes it as a sentence."""
    grade = repaired(f"A{REPAIR[1:]}.")
    plain = " ".join(text.render(grade, source_lines=SOURCE).plain.split())
    assert plain.count(REPAIR[1:]) == 1
    assert words_of(html.render(grade)).count(REPAIR[1:].replace("`", "")) == 1


def test_repairs_and_advice_are_in_grade_json() -> None:
    """Under keys that are there only where there is something to say; and a stored grade keeps them."""
    for grade in (advised(), repaired("")):
        assert record_json.load(record_json.dump(grade)) == grade
    stored = json.loads(grade_json.dump(repaired("")))
    assert [finding.get("repair") for finding in stored["items"][3]["findings"]] == [REPAIR, None]
    assert "advice" not in stored
    first = grade_json.as_json(advised())["advice"][0]
    assert first == {
        "kind": "bank-conflicts",
        "message": ADVICE[0].message,
        "file": "ada.cu",
        "line": 13,
        "array": "B_tile",
        "weight": 0.75,
    }
