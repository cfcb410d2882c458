"""Assignments of kind `answers`: their records, and the messages about wrong ones."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.arithmetic import parse
from grader.base.errors import OurError, SpecError
from grader.grading.assignment import load_assignment
from grader.model import AnswersInterface, CasePlan, DrawnNumber, Question, Setting, Visibility

if TYPE_CHECKING:
    from tests.grading.assignment.conftest import Write

SOUND = (Path(__file__).parent / "questions.yaml").read_text()


def changed(old: str, new: str) -> str:
    """The sound assignment with one change."""
    assert old in SOUND
    return SOUND.replace(old, new, 1)


def test_questions_become_records(write: Write) -> None:
    """Settings with what is drawn, questions with their unit and tolerance, and the seed."""
    interface = load_assignment(write(SOUND)).answers
    assert isinstance(interface, AnswersInterface)
    assert interface.seed == 7
    assert interface.settings[1] == Setting(
        "own", "launch", (DrawnNumber("x", 100, 999), DrawnNumber("block_x", 64, 128, (64, 128)))
    )
    half = Question(
        "half",
        "half of it",
        "fixed",
        parse("global_load_bytes / 2"),
        "bytes",
        Fraction(1, 100),
        relative=True,
    )
    assert interface.questions[1] == half
    assert (interface.questions[0].unit, interface.questions[2].unit) == ("bytes", "blocks")


def test_each_question_is_a_case_as_visible_as_its_item(write: Write) -> None:
    """So reports have a line for each."""
    assignment = load_assignment(write(SOUND))
    assert assignment.cases[0] == CasePlan("read", (), (), Visibility.VISIBLE, "")
    assert assignment.cases[2] == CasePlan("blocks", (), (), Visibility.HIDDEN, "")
    assert assignment.rubric[0].cases == ("read", "half")
    assert dict(assignment.rubric[0].options) == {"explain": "always"}
    assert dict(assignment.rubric[1].options) == {"explain": "released"}


def test_neither_a_kernel_nor_a_program_is_asked_for(write: Write) -> None:
    """Code that asks for one all the same gets an error."""
    assignment = load_assignment(write(SOUND))
    with pytest.raises(OurError, match="asks for answers, not for a kernel"):
        _ = assignment.kernel
    with pytest.raises(OurError, match="asks for answers, not for a program"):
        _ = assignment.program


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("M: 55", "M: 0", "5:19: settings.fixed.matmul: expected `M` from 1 to 1,000,000, found 0"),
        ("M: 55, ", "", "5:19: settings.fixed.matmul: the number `M` is missing"),
        ("tile: 16", "tiel: 16", "no number is called `tiel` here; expected M, K, N, tile"),
        (
            "100..999",
            "999..100",
            "6:21: settings.own.launch.x: expected the lower end first, found `999..100`",
        ),
        (
            "64 | 128",
            "64 | many",
            "expected a whole number, a range like 40..160, or a choice like `8 | 16 | 32`",
        ),
        (
            "own: {launch",
            "own: {lunch",
            "6:9: settings.own.lunch: unknown key `lunch`; did you mean `launch`?",
        ),
        (
            "of: own",
            "of: mine",
            "10:22: questions[2].of: there is no setting `mine`; expected one of fixed, own",
        ),
        ("{x} elements", "{y2} elements", "questions[2].text: `{y2}` is no number of the setting `own`"),
        (
            "answer: blocks",
            "answer: block",
            "`block` is no quantity or number of a launch; did you mean `blocks`?",
        ),
        ("bytes / 2", "bytes / (M - 55)", "questions[1].answer: with M = 55, K = 48, N = 43, tile = 16: "),
        (
            "[read, half]",
            "[raed, half]",
            "12:55: rubric[0].questions[0]: there is no question `raed`; did you mean `read`?",
        ),
        ("[read, half]", "[read]", "questions[1]: no item of the rubric gives points for `half`"),
        ("questions: blocks", "questions: [blocks, read]", "rubric[0] gives points for `read` already"),
        (
            "id: half",
            "id: read",
            "questions[1].id: expected an `id` of its own; `read` is that of questions[0] already",
        ),
        ("explain: always", "explain: never", "`never` means nothing here; expected one of always, released"),
        (
            "seed: 7",
            "seed: soon",
            "3:35: submission.seed: expected a whole number of at most nine digits, found `soon`",
        ),
        ("tolerance: 1 %", "tolerance: some", "expected how far the number may be off"),
        (
            "check: answers, questions: blocks",
            "check: output, questions: blocks",
            "`output` means nothing here",
        ),
        (
            "title: Counting",
            "title: Counting\ncases: []",
            "`cases` is for submissions of kind `kernel`; expected one of",
        ),
    ],
)
def test_wrong_questions_are_refused_with_place_and_reason(
    write: Write, old: str, new: str, complaint: str
) -> None:
    """Line, column, path, and what was expected."""
    with pytest.raises(SpecError) as caught:
        load_assignment(write(changed(old, new)))
    assert complaint in str(caught.value)


def test_all_problems_are_reported_at_once(write: Write) -> None:
    """In the order of the file."""
    with pytest.raises(SpecError) as caught:
        load_assignment(
            write(changed("M: 55", "M: 0").replace("of: own", "of: mine").replace("seed: 7", "sed: 7"))
        )
    assert [line.split(": ")[1] for line in caught.value.problems] == [
        "submission.sed",
        "settings.fixed.matmul",
        "questions[2].of",
    ]
