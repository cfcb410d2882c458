"""A command that is killed between any two writes: no score of two states is given away, and it can go on."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder, places
from grader.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = "memory-analysis"
DECISIONS = "students: {ada: {score: 40, comment: seen, by: Tim}, bob: {score: 50, comment: seen, by: Tim}}\n"


class Course:
    """An assignment, a class of two who handed in, and what is graded of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def rubric(self) -> Path:
        """The assignment's file."""
        return self.folder / "assignments" / QUESTIONS / "assignment.yaml"

    def hands_in(self, name: str, blocks: int) -> None:
        """Write a student's sheet of answers."""
        (self.folder / "class").mkdir(exist_ok=True)
        text = f"student: {name}\nanswers:\n  blocks-x: {blocks}\n"
        (self.folder / f"class/{name}.yaml").write_text(text)

    def grade(self, *options: str, into: str = "out") -> int:
        """The exit code of `grade`."""
        out = str(self.folder / into)
        words = ["grade", str(self.rubric.parent), str(self.folder / "class"), "-o", out, "--seed", "7"]
        return main([*words, *options])

    def rescore(self) -> int:
        """The exit code of `rescore`."""
        return main(["rescore", str(self.folder / "out"), "--assignment", str(self.rubric.parent)])

    def given_away(self) -> dict[str, str] | None:
        """The cells that `gradebook` fills, by student; None where it asks first."""
        book = self.folder / "book.csv"
        book.write_text("id,points\nada,\nbob,\ncy,\n")
        code = main(
            ["gradebook", str(self.folder / "out"), "--into", str(book), "--column", "points", "--no-scale"]
        )
        rows = [line.split(",") for line in book.read_text().splitlines()[1:]]
        return {name: points for name, points in rows if points} if code == 0 else None


def decide(course: Course) -> int:
    """Staff set two scores."""
    (course.folder / "decided.yaml").write_text(DECISIONS)
    return course.grade("--adjustments", str(course.folder / "decided.yaml"))


def decide_beside(course: Course) -> int:
    """Staff set two scores in the file beside the assignment."""
    (course.rubric.parent / "adjustments.yaml").write_text(DECISIONS)
    return course.grade()


def hand_in_anew(course: Course) -> int:
    """Both hand in something else, and one more comes."""
    for name, blocks in (("ada", 3), ("bob", 75), ("cy", 75)):
        course.hands_in(name, blocks)
    return course.grade()


def leave(course: Course) -> int:
    """One leaves, and another one comes."""
    (course.folder / "class/ada.yaml").unlink(missing_ok=True)
    course.hands_in("cy", 75)
    return course.grade()


def rescore(course: Course) -> int:
    """Another rubric is applied to what is stored."""
    text = course.rubric.read_text()
    edges = "title: blocks and their edges\n    points: "
    course.rubric.write_text(text.replace(f"{edges}20", f"{edges}30"))
    return course.rescore()


def merge_again(course: Course) -> int:
    """Grades from elsewhere are merged into the folder."""
    return main(["merge", str(course.folder / "part"), "-o", str(course.folder / "out")])


CHANGES: dict[str, Callable[[Course], int]] = {
    change.__name__: change for change in (decide, decide_beside, hand_in_anew, leave, rescore, merge_again)
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class that is graded."""
    course = Course(tmp_path_factory.mktemp("graded"))
    for folder in ("assignments", "reference"):
        shutil.copytree(ROOT / folder / QUESTIONS, course.folder / folder / QUESTIONS)
    course.hands_in("ada", 3)
    course.hands_in("bob", 75)
    assert course.grade(into="part") == 0
    course.hands_in("ada", 75)
    course.hands_in("bob", 1)
    assert course.grade() == 0
    return course.folder


@pytest.fixture
def copies(graded: Path, tmp_path: Path) -> Iterator[Course]:
    """Copies of it in one place, for its path is in the journal."""

    def made() -> Iterator[Course]:
        while True:
            shutil.rmtree(tmp_path / "course", ignore_errors=True)
            yield Course(shutil.copytree(graded, tmp_path / "course"))

    return made()


class Killed(BaseException):
    """The process is gone: no handler of the command sees it."""


def killed_before(number: int, monkeypatch: pytest.MonkeyPatch, change: Callable[[], int]) -> bool:
    """Make a change that ends before the write with this number; true if it did not come to that."""
    writes = count()

    def dying(write: Callable[..., object]) -> Callable[..., object]:
        def written(*arguments: object, **options: object) -> object:
            if next(writes) >= number:
                raise Killed
            return write(*arguments, **options)

        return written

    with monkeypatch.context() as patch:
        for owner, name in ((places, "write"), (places, "append"), (Path, "rename"), (shutil, "copytree")):
            patch.setattr(owner, name, dying(getattr(owner, name)))
        try:
            assert change() == 0
        except Killed:
            return False
    return True


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_that_is_killed_is_asked_about_and_can_go_on(
    what: str, copies: Iterator[Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gradebook has the scores before or after it, or asks; the same command brings it to its end."""
    change, course = CHANGES[what], next(copies)
    before = course.given_away()
    assert change(course) == 0
    after = course.given_away()
    assert before
    assert after
    assert before != after
    wrong: list[tuple[int, object]] = []
    asked = 0
    for number, course in enumerate(copies):
        ended = killed_before(number, monkeypatch, lambda course=course: change(course))  # type: ignore[misc]
        given = course.given_away()
        asked += given is None
        if given not in (None, before, after) or (ended and given != after):
            wrong.append((number, given))
        if change(course) != 0 or course.given_away() != after:
            wrong.append((number, "does not go on"))
        if ended:
            break
    assert not wrong
    assert asked > number // 2


def test_a_class_is_as_it_was_while_none_of_its_rescoring_is_written(
    copies: Iterator[Course], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names the command that goes on; an unfinished class is not made whole by it."""
    course = next(copies)
    assert not killed_before(1, monkeypatch, lambda: rescore(course))
    capsys.readouterr()
    assert course.given_away() is None
    message = "its rescoring has not come to its end; run `grader rescore` again"
    assert message in capsys.readouterr().err
    assert course.rescore() == 0
    assert "come to its end" not in capsys.readouterr().err
    assert OutFolder(course.folder / "out").state().has_ended


def older_folder(course: Course, what: str) -> Path:
    """A copy of what was graded before a change, which is made."""
    older = course.folder / "older"
    shutil.copytree(course.folder / "out", older)
    assert CHANGES[what](course) == 0
    return older


@pytest.mark.parametrize("whose", ["ada", "bob", "all"])
@pytest.mark.parametrize("what", ["decide", "rescore"])
def test_records_from_before_a_change_are_refused(
    what: str, whose: str, copies: Iterator[Course], capsys: pytest.CaptureFixture[str]
) -> None:
    """Though they are of the same hand-in and seed; `grade` grades them anew."""
    course = next(copies)
    older, out = older_folder(course, what), course.folder / "out"
    after = course.given_away()
    for name in ("ada", "bob") if whose == "all" else (whose,):
        shutil.rmtree(out / "grades" / name)
        shutil.copytree(older / "grades" / name, out / "grades" / name)
    for command in (["report"], ["rescore"], ["merge", "-o", str(course.folder / "all")]):
        capsys.readouterr()
        assert main([command[0], str(out), *command[1:]]) == 2
        assert f"{'ada' if whose == 'all' else whose}/record.json" in capsys.readouterr().err
    assert course.given_away() is None
    assert course.grade() == 0
    assert course.given_away() == after


@pytest.mark.parametrize("what", ["decide", "rescore", "hand_in_anew"])
def test_a_journal_from_before_a_change_is_refused(what: str, copies: Iterator[Course]) -> None:
    """It does not vouch for what was written after it."""
    course = next(copies)
    older, out = older_folder(course, what), course.folder / "out"
    after = course.given_away()
    shutil.copy(older / "journal.jsonl", out / "journal.jsonl")
    assert course.given_away() is None
    assert course.grade() == 0
    assert course.given_away() == after


def without(lines: list[str], at: int) -> list[str]:
    """The lines without one of them."""
    return lines[:at] + lines[at + 1 :]


def twice(lines: list[str], at: int) -> list[str]:
    """The lines with one of them a second time at their end."""
    return [*lines, lines[at]]


def swapped(lines: list[str], at: int) -> list[str]:
    """The lines with one of them before the one that it follows."""
    return [*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]] if at else lines[1:]


@pytest.mark.parametrize("damage", [without, twice, swapped])
def test_a_line_that_is_missing_or_in_another_place_is_noticed(
    damage: Callable[[list[str], int], list[str]], copies: Iterator[Course]
) -> None:
    """Each line of a class that was graded, decided about and graded in part anew; `grade` mends it."""
    course = next(copies)
    assert decide(course) == 0
    course.hands_in("cy", 75)
    assert course.grade() == 0
    after, journal = course.given_away(), course.folder / "out/journal.jsonl"
    kept = Path(shutil.copytree(course.folder / "out", course.folder / "kept"))
    lines = journal.read_text().splitlines(keepends=True)
    unnoticed = []
    for at in range(len(lines)):
        journal.write_text("".join(damage(lines, at)))
        if course.given_away() is not None:
            unnoticed.append(lines[at])
        mends = damage(lines, at)[0] == lines[0]  # which alone says what was graded
        if mends and (course.grade() != 0 or course.given_away() != after):
            unnoticed.append(f"not mended: {lines[at]}")
        shutil.rmtree(course.folder / "out")
        shutil.copytree(kept, course.folder / "out")
    assert not unnoticed


def test_a_journal_of_before_line_numbers_names_whom_no_line_vouches_for(
    copies: Iterator[Course], capsys: pytest.CaptureFixture[str]
) -> None:
    """A name of the class without a line of its own is damage."""
    course = next(copies)
    out = OutFolder(course.folder / "out")
    out.note_class(["ada", "bob", "cy"])
    assert course.given_away() is None
    assert "no line vouches for `cy`, who are in the class" in capsys.readouterr().err
