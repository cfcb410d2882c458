"""The lines that differ, and their display."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grader.grading.checks import program_output
from grader.grading.checks.program_output import MOST_ROWS, LineChange, change_rows, headline, line_changes

LINES = st.lists(st.sampled_from(["", "a", "b", "Tile 1", "Tile 2", "x" * 90, "\x1b[2J", "\t"]), max_size=30)


def test_equal_texts_have_no_changes() -> None:
    """However long they are."""
    assert line_changes(["a"] * 500, ["a"] * 500) == ()


def test_a_line_that_is_missing_does_not_make_the_rest_differ() -> None:
    """The lines that follow are aligned again."""
    assert line_changes(["a", "b", "c"], ["a", "c"]) == (LineChange(2, "b", None),)
    assert line_changes(["a", "c"], ["a", "b", "c"]) == (LineChange(2, None, "b"),)


def test_lines_that_stand_for_each_other_are_set_side_by_side() -> None:
    """Also where one of them is missing beside them."""
    found = line_changes(["load tile 1", "sum = 11"], ["sum = 12"])
    assert found == (LineChange(1, "load tile 1", None), LineChange(1, "sum = 11", "sum = 12"))


def test_the_caret_is_below_the_first_difference() -> None:
    """Control characters that are written out count as wide as they are shown."""
    shown = change_rows(line_changes(["\tone two"], ["\tone 2"]))
    assert shown[1:] == ("  expected: \\tone two", "  got:      \\tone 2", "                  ^")
    assert shown[2][shown[3].index("^")] == "2"


@given(LINES, LINES)
def test_any_two_texts_can_be_distinguished(expected: list[str], got: list[str]) -> None:
    """There are changes exactly where they differ; what is shown is harmless, and not long."""
    found = line_changes(expected, got)
    assert bool(found) == (expected != got)
    shown = change_rows(found)
    assert len(shown) <= MOST_ROWS
    assert all(line.isprintable() and len(line) <= program_output.WIDEST + 30 for line in shown)
    if found:
        assert headline(found, len(expected), len(got), "it")


@given(LINES, LINES)
def test_changes_lead_from_one_text_to_the_other(expected: list[str], got: list[str]) -> None:
    """Every expected line is there or reported, and so is every line that came, each with its number."""
    found = line_changes(expected, got)
    named = {change.line for change in found if change.actual is not None}
    assert all(got[change.line - 1] == change.actual for change in found if change.actual is not None)
    same = [line for number, line in enumerate(got, start=1) if number not in named]
    reported = [change.expected for change in found if change.expected is not None]
    assert sorted([*same, *reported]) == sorted(expected)


@given(st.binary(max_size=300))
def test_any_bytes_become_text_that_is_safe_to_show(content: bytes) -> None:
    """Escapes and broken UTF-8 included."""
    for line in program_output.lines(program_output.decoded(content)):
        assert program_output.safe_line(line).isprintable()
        assert len(program_output.safe_line(line)) <= program_output.WIDEST


@given(st.text(max_size=200), st.integers(0, 200))
def test_a_window_shows_its_place(line: str, place: int) -> None:
    """The character at the place is where the window puts it, as far as it is shown."""
    place = min(place, len(line))
    shown, at = program_output.window(line, place)
    assert shown.isprintable()
    if place < len(line) and at < len(shown) - 1:
        assert shown[at] == program_output.visible(line[place])[0]
