"""The map of wrong elements: with a legend, in ASCII and beyond, in the terminal and in HTML."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from grader.model import (
    Case,
    CaseGrade,
    CheckResult,
    Counters,
    Finding,
    FindingKind,
    Grade,
    ItemGrade,
    RubricItem,
    Verdict,
    Visibility,
)
from grader.reports import excerpts, html, text
from tests.reports.pages import words_of

FINDING = Finding(
    FindingKind.WRONG_OUTPUT,
    "in case `wide` C[0][2] should be 1 but is 2",
    case="wide",
    address="C[0][2]",
    wrong_map=("..x", "..?", "nnx"),
    map_cell=(2, 1),
)


def graded(finding: Finding, visibility: Visibility = Visibility.VISIBLE) -> Grade:
    """A grade with one wrong output."""
    item = RubricItem("right", "right", Fraction(10), "output")
    result = CheckResult(item, Verdict.FAIL, Fraction(0), "wrong", findings=(finding,))
    case = Case("wide", (("M", 6), ("N", 3)), (), visibility, "random", 1)
    return Grade(
        assignment_id="a",
        assignment_title="A",
        assignment_digest="",
        submission_id="s",
        submission_file="s.cu",
        submission_digest="",
        backend="emulator",
        device="",
        toolkit="",
        seed=1,
        verdict=Verdict.FAIL,
        score=Fraction(0),
        max_score=Fraction(10),
        skipped_points=Fraction(0),
        items=(ItemGrade(result, Fraction(0), Fraction(10)),),
        cases=(CaseGrade(case, Verdict.FAIL, 1.0, 0.0, 0.0, Counters()),),
    )


def test_the_terminal_shows_the_map_with_its_legend() -> None:
    """Only signs that occur are explained, and how much one stands for."""
    shown = text.render(graded(FINDING)).plain
    assert (
        "where C is wrong in case `wide` (· right, ○ never written, n NaN, █ wrong; each for 2 × 1" in shown
    )
    assert "\n      ··█\n      ··○\n      nn█\n" in shown


def test_a_terminal_without_unicode_shows_it_in_ascii() -> None:
    """The same picture."""
    shown = text.render(graded(FINDING), ascii_only=True).plain
    assert shown.isascii()
    assert "(. right, ? never written, n NaN, x wrong; each for 2 x 1" in shown
    assert "\n      ..x\n      ..?\n      nnx\n" in shown


def test_html_shows_it_as_a_block() -> None:
    """Its lines keep their form."""
    shown = html.render(graded(FINDING))
    assert '<pre tabindex="0">··█\n··○\nnn█</pre>' in shown
    assert "where C is wrong in case wide" in words_of(shown)


def test_a_vector_is_shown_as_well_and_one_character_is_left_out() -> None:
    """A map that is the same everywhere is left out."""
    vector = replace(FINDING, wrong_map=("...xxx",), map_cell=(1, 1))
    assert excerpts.legend(vector, ascii_only=True) == "where C is wrong in case `wide` (. right, x wrong):"
    assert "\n      ···███\n" in text.render(graded(vector)).plain
    everywhere = replace(FINDING, wrong_map=("xxx",))
    assert not excerpts.says_something(everywhere)
    assert "█" not in text.render(graded(everywhere)).plain


def test_where_nearly_all_is_wrong_in_one_way_there_is_no_map() -> None:
    """It would be lines of one character; two sorts of wrong make a picture, and so does a wrong edge."""
    for rows in (("x" * 47 + ".",) * 12, ("n" * 48,) * 11 + ("n" * 46 + "..",)):
        nearly = replace(FINDING, wrong_map=rows)
        assert not excerpts.says_something(nearly)
        assert "where C is wrong" not in text.render(graded(nearly)).plain
    for rows in (("?" * 24 + "n" * 24,) * 12, ("." * 47 + "x",) * 12, ("x" * 40 + "." * 8,) * 12):
        assert excerpts.says_something(replace(FINDING, wrong_map=rows))


def test_of_a_hidden_case_there_is_no_map() -> None:
    """Even if a finding came with one."""
    for shown in (
        text.render(graded(FINDING, Visibility.HIDDEN)).plain,
        html.render(graded(FINDING, Visibility.HIDDEN)),
    ):
        assert "█" not in shown
        assert "wide" not in shown
