"""Filling a platform's own export: which cells change, and that nothing else does."""

from __future__ import annotations

import codecs
import csv
import io
import re
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from grader.base.errors import UsageError
from grader.classroom.course.gradebooks import Filled, Score, fill
from grader.classroom.course.tables import read_table
from grader.model import Student
from tests.classroom.course.gradebook_exports import CANVAS, MOODLE, SAMPLES, score

if TYPE_CHECKING:
    from tests.conftest import Golden

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def filled(name: str) -> Filled:
    """A sample, filled in."""
    sample = SAMPLES[name]
    return fill(sample.content, sample.scores, sample.title, sample.column)


def text_of(content: bytes) -> tuple[str, str]:
    """The encoding of a file, and its text, found out without the code under test."""
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            return f"{encoding}, marked", content.removeprefix(mark).decode(encoding)
    try:
        return "utf-8", content.decode()
    except UnicodeDecodeError:
        return "cp1252", content.decode("cp1252")


def rows_of(content: bytes) -> list[list[str]]:
    """The cells of a file, as the standard library reads them."""
    text = text_of(content)[1]
    separator = max(",;\t", key=text.partition("\n")[0].count)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def described(result: Filled) -> str:
    """A filled gradebook to be read: what is reported, and the file with its line ends."""
    encoding, text = text_of(result.content)
    lines = [
        f"{result.platform}: {result.column}",
        *(f"{who}: {a!r} -> {b!r}" for who, a, b in result.changed),
    ]
    lists = (
        f"{name}: {'; '.join(getattr(result, name))}" for name in ("without_row", "without_score", "doubtful")
    )
    return "\n".join([*lines, *lists, f"--- {encoding}", *map(repr, text.splitlines(keepends=True)), ""])


@pytest.mark.parametrize("name", SAMPLES)
def test_an_export_is_filled_in_as_in_its_golden_file(name: str, golden: Golden) -> None:
    """The whole file, who changed, and who is without a row or a score, for each platform."""
    golden(f"gradebooks/{name}.txt", described(filled(name)))


def around(content: bytes, cells: set[tuple[int, int]]) -> list[bytes]:
    """The bytes of a file before, between and behind some cells, given by record and column."""
    table = read_table(content)
    spans = [
        (table.records[record][column].start, table.records[record][column].end) for record, column in cells
    ]
    ends = [0, *(position for span in sorted(spans) for position in span), len(table.text)]
    pieces = [
        table.text[start:end].encode(table.encoding) for start, end in zip(ends[::2], ends[1::2], strict=True)
    ]
    return [table.mark, *pieces]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_byte_outside_the_changed_cells_stays(name: str) -> None:
    """The old and the new file are the same once the changed cells, all of one column, are cut out."""
    before, result = SAMPLES[name].content, filled(name)
    old, new = rows_of(before), rows_of(result.content)
    cells = {
        (record, column)
        for record, (was, now) in enumerate(zip(old, new, strict=True))
        for column in range(len(was))
        if was[column] != now[column]
    }
    assert len(cells) == len(result.changed) > 0
    assert len({column for _, column in cells}) == 1
    assert around(before, cells) == around(result.content, cells)
    assert b"".join(around(before, set())) == before


@pytest.mark.parametrize("name", SAMPLES)
def test_filling_in_a_second_time_changes_nothing(name: str) -> None:
    """A cell that holds the number already is left as it is written."""
    sample, once = SAMPLES[name], filled(name)
    twice = fill(once.content, sample.scores, sample.title, sample.column)
    assert twice.content == once.content
    assert twice.changed == ()


# --- what the platforms make of it ----------------------------------------------------------------------


def canvas_grades(content: bytes) -> dict[str, str]:
    """The grade in column 4002 by Canvas' user, read by the rules of its importer."""
    rows = rows_of(content)
    header = rows[0]
    assert "Student" in header[0]
    assert "ID" in header[1]
    assert re.search(r"SIS\s+User\s+ID", header[2])
    assert re.search(r"SIS\s+Login\s+ID", header[3])
    assert "Section" in header[4]
    column = next(index for index, heading in enumerate(header) if heading.endswith("(4002)"))
    people = [
        row
        for row in rows[1:]
        if "Points Possible" not in row[0]
        and not all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.IGNORECASE) for cell in row)
    ]
    numbers = re.compile(r"-?[0-9.,]+%?")
    return {
        row[1]: row[column].replace(",", ".") if numbers.fullmatch(row[column]) else row[column].strip()
        for row in people
    }


def test_canvas_reads_a_change_where_a_score_is_and_nowhere_else() -> None:
    """By the importer's rules; a blank cell where Canvas has a score would count as a change."""
    before, after = canvas_grades(SAMPLES["canvas"].content), canvas_grades(filled("canvas").content)
    assert {user: grade for user, grade in after.items() if grade != before[user]} == {
        "12345": "85.5",
        "12347": "66.67",
        "12348": "0",
        "12349": "92.25",
        "12350": "40",
        "12351": "EX",
    }
    assert before["12346"] == after["12346"] == "100"


@pytest.mark.parametrize(
    ("name", "word", "grade", "mark"),
    [
        ("moodle", "Participant ", "Grade", "."),
        ("moodle-german", "Teilnehmer/in", "Bewertung", ","),
        ("moodle-french", "Participant", "Note", ","),
    ],
)
def test_moodle_reads_the_grades_in_its_language(name: str, word: str, grade: str, mark: str) -> None:
    """By the importer's rules: the number behind the word, a float in the language's way, within range."""
    header, *rows = rows_of(filled(name).content)
    column = header.index(grade)
    grades: dict[str, float] = {}
    for row in rows:
        if row[column]:
            assert row[0].startswith(word)
            grades[row[0].removeprefix(word)] = float(row[column].replace(mark, "."))
            assert 0 <= grades[row[0].removeprefix(word)] <= 100
    expected = {"12345": 85.5, "12346": 100, "12347": 66.67, "12348": 0, "12349": 92.25, "12350": 40}
    assert grades == expected


def test_brightspace_reads_the_grades_by_its_keys_and_its_last_column() -> None:
    """Keys keep their `#`, and every line ends with one."""
    header, *rows = rows_of(filled("brightspace").content)
    column = next(index for index, heading in enumerate(header) if heading.startswith("Tiled"))
    assert [row[column] for row in rows] == ["85.5", "100", "66.67", "0", "92.25", "40", "", "3.25"]
    assert all(row[0].startswith("#") and row[-1] == "#" for row in rows)


# --- whose row ------------------------------------------------------------------------------------------

ROSTER = """\
login,name,email,points
ada,Ada Lovelace,ada@uni.example,
boris,"Müller, Boris",boris@uni.example,
grace,Grace Hopper,grace@uni.example,
"""


def into_roster(*scores: Score) -> tuple[list[str], Filled]:
    """The column of points in three rows, and the whole result."""
    result = fill(ROSTER.encode(), scores, column="points")
    return [row[3] for row in rows_of(result.content)[1:]], result


@pytest.mark.parametrize(
    "student",
    [
        Student(login="boris"),
        Student(email="BORIS@uni.example"),
        Student(name="Boris Müller"),
        Student(name="müller,  boris"),
        Student(name="Boris Mu\u0308ller"),
        Student(name="Boris Müller", login="mueller@elsewhere.example"),
    ],
)
def test_a_person_is_found_by_the_strongest_key_in_the_file(student: Student) -> None:
    """Login, address, name in either order, in any case, composed or not."""
    assert into_roster(score("x", student))[0] == ["", "1", ""]


def test_a_submission_whose_person_is_unknown_is_found_by_its_name() -> None:
    """The id and the download's name count last, with blanks for underscores."""
    assert into_roster(score("grace"), score("Ada_Lovelace", points=2))[0] == ["2", "", "1"]
    assert into_roster(score("7", names=("Hopper, Grace",)))[0] == ["", "", "1"]


def test_each_of_a_group_has_a_row() -> None:
    """All get the score; who has no row is named, and the group's own name is no student's."""
    group = score("ada", Student(login="ada"), Student(name="Grace Hopper"), Student(name="Eve"))
    points, result = into_roster(group)
    assert points == ["1", "", "1"]
    assert result.without_row == ("ada (Eve)",)
    assert result.without_score == ("Müller, Boris",)


def test_a_group_of_which_one_is_doubtful_is_written_for_no_member() -> None:
    """Staff are asked about the submission as a whole."""
    group = score("group", Student(id="12345"), Student("Anna Schmidt"))
    result = fill(CANVAS.encode(), [group], column="Warm-up")
    assert (result.changed, result.doubtful) == ((), ("group",))


def test_two_submissions_of_one_row_are_doubtful() -> None:
    """Neither is written, whatever the key."""
    points, result = into_roster(
        score("one", Student(login="ada")), score("two", Student(name="Ada Lovelace"))
    )
    assert points == ["", "", ""]
    assert result.doubtful == ("one", "two")


def test_a_name_in_two_rows_is_doubtful_and_costs_no_one_else() -> None:
    """A student who is found by a number keeps the row, though another submission has the same name."""
    content = CANVAS.replace("Lovelace, Ada", "Schmidt, Anna").encode()
    anna = score("by number", Student("Anna Schmidt", id="12349"), points=5)
    result = fill(content, [anna, score("by name", Student("Anna Schmidt"))], column="Warm-up")
    assert [new for _, _, new in result.changed] == ["5"]
    assert result.doubtful == ("by name",)


def test_an_equal_name_with_another_number_is_another_person() -> None:
    """A name does not outweigh numbers that are the file's own, as those of another student show."""
    ada = score("ada", Student("Ada Lovelace", id="12345"))
    other = score("other", Student("Boris Müller", id="77777"))
    result = fill(CANVAS.encode(), [ada, other], column="Warm-up")
    assert result.without_row == ("other",)
    numbers_of_elsewhere = fill(CANVAS.encode(), [other], column="Warm-up")
    assert [who for who, _, _ in numbers_of_elsewhere.changed] == ["Müller, Boris"]


def test_another_address_does_not_make_another_person() -> None:
    """People have several addresses and logins, so an equal name still counts."""
    ada = score("ada", Student(email="ada@uni.example"))
    boris = score("b", Student("Boris Müller", email="boris@home.example"), points=2)
    assert into_roster(ada, boris)[0] == ["1", "2", ""]


def test_the_mark_before_a_key_of_brightspace_is_none_of_it() -> None:
    """`#S100` is the number S100."""
    content = (
        b"OrgDefinedId,Lab Points Grade <Numeric MaxPoints:10>,End-of-Line Indicator\n#S100,,#\n#S101,,#\n"
    )
    result = fill(content, [score("x", Student(sid="s101"))])
    assert result.content == content.replace(b"#S101,,", b"#S101,1,")


def test_rows_that_are_no_students_stay() -> None:
    """Most points, manual posting, the test student, and who is not assigned the work."""
    people = [Student("Student, Test", id="20001"), Student(name="    Points Possible"), Student(id="12353")]
    scores = [score(str(index), person) for index, person in enumerate(people)]
    result = fill(CANVAS.encode(), scores, column="Tiled matmul, part 1")
    assert result.content == CANVAS.encode()
    assert result.without_row == ("0", "1", "2")


# --- what is written ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "cell"),
    [
        (Fraction(0), "0"),
        (Fraction(10), "10"),
        (Fraction(100), "100"),
        (Fraction(17, 2), "8.5"),
        (Fraction(1, 3), "0.33"),
        (Fraction(2, 3), "0.67"),
        (Fraction(1999, 200), "10"),
        (Fraction(1985, 200), "9.92"),
        (Fraction(1, 1000), "0"),
    ],
)
def test_points_have_at_most_two_decimals_and_no_zeros_behind(points: Fraction, cell: str) -> None:
    """As in the grader's own table."""
    result = fill(ROSTER.encode(), [Score("ada", (), (), points)], column="points")
    assert rows_of(result.content)[1][3] == cell


def test_a_decimal_comma_between_commas_is_quoted() -> None:
    """The file writes so itself, and the cell stays one cell."""
    content = 'login,points\nada,\nboris,"7,5"\n'
    result = fill(content.encode(), [score("ada", points=2.5)], column="points")
    assert result.content.decode() == 'login,points\nada,"2,5"\nboris,"7,5"\n'


def test_a_column_without_decimals_is_written_as_the_rest_of_the_file() -> None:
    """Nothing in an empty column shows which decimal mark the file has."""
    content = "login;lab;points\nada;7,5;\n"
    result = fill(content.encode(), [score("ada", points=2.5)], column="points")
    assert result.content.decode() == "login;lab;points\nada;7,5;2,5\n"


def test_a_quoted_cell_stays_quoted_and_spaces_around_it_go_with_the_value() -> None:
    """Quotes belong to how the file is written."""
    content = 'login,points\nada,"1"\nboris, 1 \n'
    result = fill(content.encode(), [score("ada", points=2), score("boris", points=3)], column="points")
    assert result.content.decode() == 'login,points\nada,"2"\nboris,3\n'


def test_points_below_zero_are_written_nowhere() -> None:
    """A cell that starts with a minus is a formula to some, and no platform's grade."""
    with pytest.raises(UsageError, match="ada: has -1 points"):
        into_roster(score("ada", points=-1))


def test_more_points_than_moodle_takes_are_refused() -> None:
    """Moodle would pass over the row without a word."""
    with pytest.raises(UsageError, match=r"takes at most 100, and Moodle leaves out what is more"):
        fill(MOODLE.encode(), [score("ada", Student(id="12345"), points=101)])


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
ROWS = st.lists(st.tuples(CELL, CELL, st.one_of(st.none(), st.integers(0, 10_000))), min_size=1, max_size=8)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # on a machine that others use
@given(
    ROWS,
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_cells_survive(
    rows: list[tuple[str, str, int | None]], separator: str, end: str, quoting: int, encoding: str
) -> None:
    """A reader finds the new values in the meant cells and the rest as it was, whatever stands in a file."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=separator, lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    before = [["login", "a remark", "points", "another"]]
    before += [[f"login{index}", first, second, first] for index, (first, second, _) in enumerate(rows)]
    writer.writerows(before)
    written = csv.reader(io.StringIO(buffer.getvalue(), newline=""), delimiter=separator)
    assume(list(written) == before)  # the writer leaves a lone carriage return without quotes
    scores = [
        Score(f"login{index}", (), (), Fraction(hundredths, 100))
        for index, (_, _, hundredths) in enumerate(rows)
        if hundredths is not None
    ]
    result = fill(buffer.getvalue().encode(encoding), scores, column="points")
    text = result.content.decode(encoding)
    after = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    assert [row[:2] + row[3:] for row in after] == [row[:2] + row[3:] for row in before]
    for (_, old, hundredths), row in zip(rows, after[1:], strict=True):
        if hundredths is None:
            assert row[2] == old
        else:
            assert Fraction(row[2].replace(",", ".")) == Fraction(hundredths, 100)


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_a_damaged_file_is_refused_or_filled_in_and_never_breaks(name: str, data: st.DataObject) -> None:
    """Some bytes are lost or others: a message for people, or a file that is filled in and stays so."""
    sample = SAMPLES[name]
    start, end = sorted(data.draw(st.tuples(*2 * [st.integers(0, len(sample.content))])))
    damaged = sample.content[:start] + data.draw(st.binary(max_size=6)) + sample.content[end:]
    try:
        result = fill(damaged, sample.scores, sample.title, sample.column)
    except UsageError:
        return
    assert (result.content == damaged) == (not result.changed)
    assert fill(result.content, sample.scores, sample.title, sample.column).content == result.content
