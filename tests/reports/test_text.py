"""Feedback in the terminal: complete, harmless, and silent about what is hidden."""

from __future__ import annotations

import io
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from grader.base.text import ESCAPE_SEQUENCE, ascii_only, many_lines, one_line
from grader.model import Cause, CheckResult, Finding, FindingKind, RubricItem, Verdict
from grader.reports import excerpts, text, wording
from grader.reports.audience import student_view
from grader.reports.class_table import note, render_class
from grader.reports.record_json import dump, load
from tests.reports.sample_grades import (
    GRADES,
    ITEMS,
    SOURCE,
    full_marks,
    graded,
    hidden_item,
    hostile,
    missing_barrier,
    our_error,
    partial_credit,
    passing,
)


def test_students_learn_nothing_about_hidden_cases_and_items() -> None:
    """No id, shape, error, message, hint or finding of anything hidden reaches a student."""
    shown = text.render(hidden_item(), source_lines=SOURCE).plain
    for secret in ("secret", "dot-product", "57", "1 by 57"):
        assert secret not in shown
    assert "this item fails in cases that are hidden" in shown


def test_staff_see_what_is_hidden_from_students() -> None:
    """The same grade, for staff, tells all of it."""
    shown = text.render(hidden_item(), audience="staff", source_lines=SOURCE).plain
    for words in ("the secret message", "the secret hint", "dot-product (M=1, K=57, N=1)", "seed 20250101"):
        assert words in shown


def test_a_students_view_keeps_score_and_verdicts() -> None:
    """Hiding details changes no result."""
    before, after = hidden_item(), student_view(hidden_item())
    assert (after.score, after.max_score, after.verdict) == (before.score, before.max_score, before.verdict)
    assert [item.result.verdict for item in after.items] == [item.result.verdict for item in before.items]
    assert [case.verdict for case in after.cases] == [case.verdict for case in before.cases]  # one is hidden


def test_a_students_view_holds_no_seed_and_no_measurement_of_hidden_cases() -> None:
    """Seeds, counters and times of hidden cases are gone from the record itself."""
    view = student_view(partial_credit())
    hidden = view.cases[3]
    assert view.seed == 0
    assert {case.case.seed for case in view.cases} == {0}
    assert (hidden.case.shape, hidden.max_error, hidden.seconds, hidden.counters.flops) == ((), None, 0.0, 0)


def test_what_was_judged_for_students_reaches_them_word_by_word() -> None:
    """The checks wrote it of visible cases; what they wrote for staff stays with staff."""
    before, after = partial_credit(), student_view(partial_credit())
    assert before.for_student is not None
    assert after.items[2].result.message == before.for_student.results[2].message
    assert student_view(after) == after


@pytest.mark.parametrize("name", GRADES)
@pytest.mark.parametrize("width", [1, 40, 100, 200])
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """Lines are wrapped or cut; below forty columns they are laid out for forty."""
    shown = text.render(GRADES[name](), source_lines=SOURCE, width=width)
    assert max(len(line) for line in shown.plain.split("\n")) <= max(width, 40)


@pytest.mark.parametrize("name", GRADES)
def test_ascii_holds_nothing_else(name: str) -> None:
    """The fall-back can be printed on any terminal."""
    assert text.render(GRADES[name](), source_lines=SOURCE, ascii_only=True).plain.isascii()
    assert render_class([GRADES[name]()], ascii_only=True).plain.isascii()


def test_hostile_names_and_messages_cannot_act() -> None:
    """Escape sequences, control characters and direction overrides are shown or dropped, never printed."""
    for shown in (text.render(hostile(), source_lines=["\x1b[2J"] * 3), render_class([hostile()])):
        lines = shown.plain.split("\n")
        assert all(line.isprintable() for line in lines)
        assert len(lines) < 100


def test_rich_markup_in_names_is_only_text() -> None:
    """A file called [red].cu is shown as such."""
    out = io.StringIO()
    Console(file=out, width=100).print(text.render(hostile()))
    assert "[red]<b>" in out.getvalue()


def test_colour_changes_no_word() -> None:
    """With colour the same characters are printed."""
    shown = text.render(missing_barrier(), source_lines=SOURCE)
    out = io.StringIO()
    Console(file=out, width=100, force_terminal=True, color_system="truecolor").print(shown, end="")
    coloured = out.getvalue()
    assert "\x1b[" in coloured
    assert ESCAPE_SEQUENCE.sub("", coloured) == shown.plain


def test_an_error_of_ours_shows_no_score() -> None:
    """No one should read a number that means nothing."""
    shown = text.render(our_error()).plain
    assert "through no fault of the submission" in shown
    assert wording.score(our_error()) not in shown


def test_all_findings_are_counted_though_only_some_are_shown() -> None:
    """Beyond the first few findings there is a count."""
    findings = tuple(Finding(FindingKind.COMPILE, f"problem {n}", line=n) for n in range(1, 10))
    result = replace(passing(ITEMS[0]), verdict=Verdict.FAIL, fraction=Fraction(0), findings=findings)
    shown = text.render(graded("many", (result,))).plain
    assert "problem 5" in shown
    assert "problem 6" not in shown
    assert "and 4 more" in shown


def test_wrong_outputs_are_quoted_twice_and_then_counted() -> None:
    """The others are named, without repeating a word."""
    names = ("a", "b", "c", "d")
    findings = tuple(Finding(FindingKind.WRONG_OUTPUT, f"in case `{n}` C is wrong", case=n) for n in names)
    failed = replace(
        passing(ITEMS[2]),
        verdict=Verdict.FAIL,
        message="none of 4 cases is right. In case `c` C is wrong",
        findings=findings,
        case_verdicts=tuple((name, Verdict.FAIL) for name in names),
    )
    shown = text.render(graded("many", (failed,), student_results=(failed,))).plain
    assert shown.count("C is wrong") == 2
    assert "… and 2 more cases: b; d" in shown


def test_what_is_known_is_not_repeated() -> None:
    """An item that waits for another has no list of cases, and a hint is given once."""
    first = missing_barrier().items[3].result
    again = replace(first, item=ITEMS[2], message="again")
    waiting = replace(first, item=ITEMS[1], message="not judged until “Compiles” passes", judged=False)
    results = (first, again, waiting)
    shown = text.render(graded("grace", results, student_results=results), width=200).plain
    assert shown.count(first.hint) == 1
    assert "try: The same as above." in shown
    assert shown.endswith("○ Right for whole tiles\n    not judged until “Compiles” passes\n")


def test_of_races_two_cases_are_enough() -> None:
    """The lines tell where it is; the others are counted."""
    item = RubricItem("x", "Race", Fraction(1), "races")
    verdicts = tuple((name, Verdict.FAIL) for name in ("square-64", "mp3", "wide"))
    result = CheckResult(item, Verdict.FAIL, Fraction(0), "a race", case_verdicts=verdicts)
    racy = text.render(graded("race", (result,))).plain
    assert "    cases: square-64 (M=64, K=64, N=64); mp3 (M=55, K=48, N=43) and 1 more\n" in racy
    other = replace(result, item=replace(item, check="traffic"))
    assert "and 1 more" not in text.render(graded("race", (other,))).plain


def test_source_lines_are_marked_and_the_array_underlined() -> None:
    """A finding's lines have a mark in the margin, and carets under the array it names."""
    finding = missing_barrier().items[3].result.findings[0]
    rows = excerpts.quote(finding, "grace.cu", SOURCE)
    assert [row.gutter for row in rows if row.marked and "^" not in row.code] == [">  9 | ", "> 13 | "]
    carets = next(row.code for row in rows if "^" in row.code)
    assert SOURCE[8][carets.index("^") :].startswith("A_tile")


@pytest.mark.parametrize("line", [-1, 0, 17, 10**9])
def test_lines_that_do_not_exist_are_not_quoted(line: int) -> None:
    """A line number comes from a compiler; the source may not have it."""
    assert excerpts.quote(Finding(FindingKind.RACE, "", line=line), "a.cu", SOURCE) == []


def test_another_files_lines_are_not_quoted_from_the_submission() -> None:
    """Line 3 of a header is not line 3 of the student's file."""
    assert excerpts.quote(Finding(FindingKind.COMPILE, "", file="helper.h", line=3), "a.cu", SOURCE) == []


def test_lines_far_apart_are_quoted_with_a_gap() -> None:
    """The lines between two distant lines are left out."""
    rows = excerpts.quote(Finding(FindingKind.RACE, "", line=2, other_line=15), "a.cu", SOURCE)
    assert len(rows) == 3
    assert "…" in rows[1].gutter


@given(st.text())
def test_one_line_is_printable_for_any_text(words: str) -> None:
    """Whatever a name holds, what is shown is one printable line."""
    assert one_line(words).isprintable()


@given(st.text())
def test_many_lines_are_printable_for_any_text(words: str) -> None:
    """Each line of a compiler's message is printable, whatever it holds."""
    assert all(line.isprintable() for line in many_lines(words).split("\n"))


@given(st.text())
def test_ascii_is_ascii_for_any_text(words: str) -> None:
    """There is an ASCII form of everything."""
    assert ascii_only(words).isascii()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\x1b[1;31mb\x1b[0m", "ab"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("a\x00b", r"a\x00b"),
        ("a\u202eb", r"a\u202eb"),
        ("caf\udce9.cu", r"caf\xe9.cu"),
        ("a\u00a0b", "a b"),
        ("a\r\nb", "a b"),
        ("naïve ✓ 矩阵", "naïve ✓ 矩阵"),
    ],
)
def test_invisible_characters_are_spelt_out(raw: str, shown: str) -> None:
    """Escape sequences vanish, control characters become escapes, and letters stay letters."""
    assert one_line(raw) == shown


@pytest.mark.parametrize(
    ("exact", "shown"),
    [(Fraction(15), "15"), (Fraction(25, 3), "8.33"), (Fraction(50, 3), "16.67"), (Fraction(5, 2), "2.5")],
)
def test_points_are_rounded_for_display_only(exact: Fraction, shown: str) -> None:
    """At most two decimals, and none for whole points."""
    assert wording.points_text(exact) == shown


def test_the_class_table_notes_the_mistake_before_what_it_caused() -> None:
    """A mistake with a name explains more than the first case that is wrong."""
    grade = partial_credit()
    mistake = Finding(FindingKind.MISTAKE, "`C` lacks the last tile of the sum")
    result = grade.items[2].result
    named = replace(grade.items[2], result=replace(result, findings=(*result.findings, mistake)))
    noted = note(replace(grade, items=(*grade.items[:2], named, *grade.items[3:])))
    assert noted == "`C` lacks the last tile of the sum"


def test_the_class_table_notes_lines_from_the_top() -> None:
    """Whichever of the two accesses came second."""
    grade = missing_barrier()
    item = grade.items[3]
    race = replace(item.result.findings[0], line=13, other_line=9)
    swapped = replace(item, result=replace(item.result, findings=(race,)))
    assert note(replace(grade, items=(swapped,))) == "race, lines 9 and 13"


def test_the_class_table_summary_leaves_our_errors_out_of_the_mean() -> None:
    """An error of ours is counted apart and is no zero."""
    last = render_class([full_marks(), our_error()]).plain.splitlines()[-1]
    assert "1 with full marks" in last
    assert "1 not graded" in last
    assert "mean 75 points" in last


def test_the_class_shows_whom_the_emulator_gave_up() -> None:
    """Marks that leave items out for that are no full marks: staff are asked to look."""
    whole = full_marks()
    cases = (replace(whole.cases[0], too_much_work=True), *whole.cases[1:])
    table = render_class([whole, replace(whole, cases=cases)]).plain
    assert "it takes too long" in note(replace(whole, cases=cases))
    assert "1 with full marks, 1 to look at, not judged as a whole" in " ".join(table.split())


def test_a_stored_grade_still_shows_what_was_given_up() -> None:
    """A report of it shows it, too."""
    whole = full_marks()
    given_up = replace(whole, cases=(replace(whole.cases[0], too_much_work=True), *whole.cases[1:]))
    assert load(dump(given_up)).took_too_much_work
    assert not load(dump(whole)).took_too_much_work


def test_the_place_is_seen_on_a_narrow_terminal() -> None:
    """Of a line that is too long that part is quoted where the array is, with the carets below it."""
    long = "    tile[ty][tx] = (some_row_index < rows && some_column_index < columns && more) ? input[i] : 0;"
    finding = Finding(FindingKind.OUT_OF_BOUNDS, "reads", file="a.cu", line=1, address="input[9]")
    rows = excerpts.quote(finding, "a.cu", [long], 60)
    assert rows[0].code.startswith("…")
    assert rows[0].code[rows[1].code.index("^") :].startswith("input[i]")
    assert all(len(row.gutter + row.code) <= 60 for row in rows)
    assert excerpts.quote(finding, "a.cu", [long])[0].code == long
    near = replace(finding, address="tile[0]")
    assert excerpts.quote(near, "a.cu", [long], 60)[0].code == long
    far = excerpts.quote(finding, "a.cu", ["x = 1;" * 200 + long], 80)
    assert far[0].code[far[1].code.index("^") :].startswith("input[i]")


def test_the_class_table_keeps_the_end_of_a_long_id() -> None:
    """Platforms write the number there by which two of one name are distinguished."""
    long = "Fernandez_Garcia_de_la_Vega_y_Montenegro_"
    grades = [replace(full_marks(), submission_id=f"{long}{number}") for number in (10345, 10346)]
    narrow, wide = (render_class(grades, width=width).plain for width in (80, 300))
    assert "…ro_10345 " in narrow
    assert "…ro_10346 " in narrow
    assert f"{long}10345" in wide


def test_what_to_start_with_is_seen_on_a_narrow_terminal() -> None:
    """Its line is quoted where a finding has its array, as further down."""
    grade = replace(missing_barrier(), cases=missing_barrier().cases[:3], for_student=None)
    source = [*SOURCE[:8], f"{'/* long */ ' * 12}A_tile[0][0] = 1;"]
    cause = Cause("missing-barrier", "a thread overwrites `A_tile`", "wait", "barriers", line=9)
    shown = text.render(replace(grade, cause=cause), width=80, source_lines=source).plain
    start = shown.partition("Start here")[2].partition("✗")[0]
    assert "A_tile[0][0] = 1;" in start
    assert "^^^^^^" in start
