"""The column and row of a platform's export that a score belongs to, and the exports that are refused."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import UsageError
from grader.classroom.course.gradebooks import fill
from grader.classroom.course.tables import MAX_BYTES
from grader.model import Student
from tests.classroom.course.gradebook_exports import CANVAS, MOODLE, MOODLE_BLIND, SCORES, score

if TYPE_CHECKING:
    from tests.conftest import Golden


def refusal(content: bytes, title: str = "", column: str = "") -> str:
    """The message that a file is refused with."""
    with pytest.raises(UsageError) as caught:
        fill(content, SCORES, title, column)
    return str(caught.value)


def test_each_refusal_names_what_was_expected(golden: Golden) -> None:
    """Files that are no gradebook, and columns that are not clear: one line each."""
    lines = [f"{name}\n    {refusal(*arguments)}\n" for name, arguments in REFUSED.items()]
    assert all(line.count("\n") == 2 for line in lines)
    golden("gradebooks/refusals.txt", "".join(lines))


HEADINGS = b"login,name,points\n"
REFUSED: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "", ""),
    "blanks only": (b"\n \n", "", ""),
    "a mark only": (codecs.BOM_UTF16_LE, "", ""),
    "headings only": (HEADINGS, "", "points"),
    "headings and blank lines": (HEADINGS + b"\n,,\n\n", "", "points"),
    "NUL": (HEADINGS + b"ada,Ada\0,1\n", "", "points"),
    "UTF-16 without its mark": ("login;points\nada;1\n".encode("utf-16-le"), "", "points"),
    "UTF-16 that is cut off": (codecs.BOM_UTF16_LE + "login;points".encode("utf-16-le")[:-1], "", ""),
    "not UTF-8 in spite of its mark": (codecs.BOM_UTF8 + b"login,points\nm\xfcller,1\n", "", ""),
    "xlsx": (b"PK\x03\x04" + bytes(100), "", ""),
    "old Excel": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "", ""),
    "no table": (b"<html><body>please log in</body></html>\n", "", ""),
    "too large": (b"x" * (MAX_BYTES + 1), "", ""),
    "60,000 columns": (b"," * 60_000 + b"\n", "", ""),
    "a quote is never closed": (HEADINGS + b'ada,"Ada,1\nboris,Boris,2\n', "", "points"),
    "text behind a quote": (HEADINGS + b'ada,"Ada" Lovelace,1\n', "", "points"),
    "another number of cells": (HEADINGS + b"ada,Ada,1\nboris,Boris\n", "", "points"),
    "nobody's rows": (b"colour,points\nred,1\n", "", "points"),
    "two columns of logins": (b"login,Login,points\nada,eve,1\n", "", "points"),
    "somebody twice in Canvas": (CANVAS.replace("12346", "12345").encode(), "", "Warm-up"),
    "somebody twice in Moodle": (MOODLE.replace("12346", "12345").encode(), "", ""),
    "two columns of one heading": (b"login,points,points\nada,1,2\n", "", "points"),
    "no such column": (CANVAS.encode(), "", "Homework\x1b[2J 9"),
    "a column that Canvas computes": (CANVAS.encode(), "", "Current Score"),
    "a column of names": (CANVAS.encode(), "", "1"),
    "a column that is not there": (CANVAS.encode(), "", "\u0667" * 3),
    "several columns": (CANVAS.encode(), "no such title", ""),
    "no column said": (HEADINGS + b"ada,Ada,1\n", "", ""),
    "a title of two columns": (
        CANVAS.replace("Warm-up", "Tiled").replace("Tiled matmul, part 1", "Tiled").encode(),
        "tiled",
        "",
    ),
    "no column of grades": (b"login,name\nada,Ada\n", "", ""),
    "no column for one": (b"login,name\nada,Ada\n", "", "points"),
    "a scale in Moodle": (MOODLE.replace("100.00", '"fail, pass"').encode(), "", ""),
    "a heading of a whole book": (b"login," + b"x" * 2_001 + b"\nada,1\n", "", ""),
    "many rows": (HEADINGS + b"a,b,\n" * 100_001, "", "points"),
    "many columns": (
        ("login," + ",".join(f"item {n}" for n in range(40)) + "\nada" + "," * 40).encode(),
        "",
        "",
    ),
}


ONE_COLUMN = "Student,ID,SIS Login ID,Section,Quiz (9)\n    Points Possible,,,,100\n"
OF_ADA, OF_BORIS = '"Lovelace, Ada",12345,ada,A,', '"Müller, Boris",12346,boris,A,'


@pytest.mark.parametrize(
    ("ada", "boris", "refused"),
    [
        ("", "", False),
        ("", "7", True),
        ("85.50", "", False),
        ("85.5", "7", True),
        ("80", "", True),
        ("EX", "", True),
    ],
)
def test_grades_under_another_title_are_never_written_over(ada: str, boris: str, *, refused: bool) -> None:
    """They may be another assignment's: an empty column, or one that these scores filled, is filled."""
    content = f"{ONE_COLUMN}{OF_ADA}{ada}\n{OF_BORIS}{boris}\n".encode()
    scores = (score("ada", Student(id="12345"), points=85.5),)
    if refused:
        with pytest.raises(UsageError, match=r"`Quiz \(9\)`, has another title .* with `--column 5`"):
            fill(content, scores, title="Tiled matmul")
    for title, column in [("Quiz", ""), ("Tiled matmul", "5"), *([] if refused else [("Tiled matmul", "")])]:
        assert f"{OF_ADA}85.5" in fill(content, scores, title, column).content.decode()


def test_a_worksheet_of_moodle_is_that_of_its_assignment() -> None:
    """Its column is called alike for all: grades that are there are this assignment's, and are changed."""
    result = fill(MOODLE.encode(), [score("boris", Student(id="12346"), points=50)], title="Tiled matmul")
    assert [(old, new) for _, old, new in result.changed] == [("100.00", "50.00")]


def test_the_number_of_a_team_is_no_students_row() -> None:
    """Moodle numbers teams, too: a row with the same number and quite another name is another student's."""
    team = score("Team_12_12345", Student("Team 12", id="12345"))
    assert fill(MOODLE.encode(), [team]).without_row == ("Team_12_12345",)
    for name in ("Ada M. Lovelace", "ADA", ""):
        result = fill(MOODLE.encode(), [score("x", Student(name, id="12345"))])
        assert [who for who, _, _ in result.changed] == ["Ada Lovelace"]
    assert fill(MOODLE_BLIND.encode(), [score("x", Student("Ada Lovelace", id="12345"))]).changed
    assert fill(CANVAS.encode(), [score("x", Student("team12", id="12345"))], column="Warm-up").changed


def test_the_separator_is_the_one_that_makes_most_columns() -> None:
    """Though each line has a comma, too."""
    content = b"Nachname, Vorname;login;points\nLovelace, Ada;ada;\n"
    assert fill(content, [score("ada")], column="points").content == content.replace(b"ada;", b"ada;1")


def test_a_separator_that_only_the_headings_have_is_none() -> None:
    """A heading may hold more semicolons than the file has commas."""
    content = b"login,a;b;c;d,points\nada,x,\n"
    assert fill(content, [score("ada")], column="points").content == content.replace(b"x,", b"x,1")


@pytest.mark.parametrize(("heading", "front"), [("login", "user"), ("no.", "#")])
def test_a_wide_table_with_numbers_at_the_front_need_not_be_moodles(heading: str, front: str) -> None:
    """Logins may end in numbers, and rows may be numbered."""
    content = f"{heading},sid,a,b,points,most\n{front}1,S1,,,,10\n{front}2,S2,,,,10\n".encode()
    result = fill(content, [score("x", Student(sid="S2"))], column="points")
    assert result.platform == "CSV"
    assert result.content == content.replace(b"S2,,,,", b"S2,,,1,")


def test_a_heading_as_it_stands_outweighs_one_in_other_letters() -> None:
    """A heading that the user writes exactly is the one that is meant."""
    content = b"login,Points,points\nada,,\n"
    assert fill(content, [score("ada")], column="points").content == b"login,Points,points\nada,,1\n"


@pytest.mark.parametrize(
    ("without", "column"),
    [
        ("    Points Possible,,,,,,10,100,(read only),(read only),(read only)\n", "Final Score"),
        ("Current ", "Score"),
    ],
)
def test_what_canvas_computes_or_keeps_is_no_column_for_grades(without: str, column: str) -> None:
    """By its heading, or by what stands in the row of most points."""
    assert "no column" in refusal(CANVAS.replace(without, "").encode(), "", column)


def test_a_column_of_a_repeated_heading_is_named_by_its_number() -> None:
    """The refusal names these numbers."""
    result = fill(b"login,points,points\nada,1,2\n", [score("ada", points=5)], column="3")
    assert result.content == b"login,points,points\nada,1,5\n"


def test_latin_1_bytes_that_windows_does_not_define_come_back() -> None:
    """No byte is lost to a guess of the encoding."""
    content = b"login,remark,points\nada,\x81\xfc,\n"
    result = fill(content, [score("ada")], column="points")
    assert result.content == b"login,remark,points\nada,\x81\xfc,1\n"
