"""The staff's files: what must be there, and how a table that cannot be understood is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.authoring.validation.staff import read_staff
from grader.base.errors import UsageError
from tests.bundled import bundled

if TYPE_CHECKING:
    from pathlib import Path

    from grader.model import Assignment

TABLE = "no_guard.cu:\n  title: no guard\n  wrong: It stores outside.\n  loses: [memory]\n"


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    """An assignment whose reference is a folder of its own."""
    (tmp_path / "assignments/mine").mkdir(parents=True)
    (tmp_path / "reference/mine/mistakes").mkdir(parents=True)
    (tmp_path / "assignments/mine/skeleton.cu").write_text("// begin here\n")
    (tmp_path / "reference/mine/solution.cu").write_text("// solved\n")
    (tmp_path / "reference/mine/mistakes/no_guard.cu").write_text("// wrong\n")
    (tmp_path / "reference/mine/mistakes/mistakes.yaml").write_text(TABLE)
    loaded = bundled("tiled-matmul")
    return replace(loaded, id="mine", reference="mine", path=tmp_path / "assignments/mine")


def _mistakes(assignment: Assignment) -> Path:
    return assignment.path.parents[1] / "reference/mine/mistakes"


def test_everything_is_read(assignment: Assignment) -> None:
    """Model solution, skeleton, mistakes with what they lose; no explanation where there is no file."""
    staff = read_staff(assignment)
    assert (staff.solution_file, staff.solution, staff.skeleton) == (
        "solution.cu",
        b"// solved\n",
        b"// begin here\n",
    )
    assert [(m.file, m.title, m.loses, m.source) for m in staff.mistakes] == [
        ("no_guard.cu", "no guard", ("memory",), b"// wrong\n")
    ]
    assert (staff.explained, staff.problems) == ((), ())


def test_a_file_without_an_entry_and_an_entry_without_a_file_are_problems(assignment: Assignment) -> None:
    """The folder and its table must name the same files."""
    (_mistakes(assignment) / "extra.cu").write_text("")
    (_mistakes(assignment) / "no_guard.cu").unlink()
    staff = read_staff(assignment)
    assert staff.mistakes == ()
    assert staff.problems == (
        "extra.cu: lies in mistakes/, but mistakes.yaml does not name it",
        "no_guard.cu: mistakes.yaml names it on line 1, but there is no such file, and no `edits`",
    )


def test_explanations_are_read(assignment: Assignment) -> None:
    """A list of mutants with the reason why each is none."""
    (_mistakes(assignment) / "equivalent.yaml").write_text("- {mutant: x-1, why: it is the same}\n")
    assert [(each.mutant, each.why) for each in read_staff(assignment).explained] == [
        ("x-1", "it is the same")
    ]


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "mistakes.yaml",
            "no_guard.cu: {title: a, loses: [memory]}\n",
            "expected `title`, `wrong` and `loses`",
        ),
        (
            "mistakes.yaml",
            TABLE.replace("[memory]", "[speed]"),
            "loses `speed`, which the rubric does not have; did you mean `speedup`?",
        ),
        (
            "mistakes.yaml",
            TABLE.replace("[memory]", "[memry]"),
            "loses `memry`, which the rubric does not have; did you mean `memory`?",
        ),
        ("mistakes.yaml", f"{TABLE}  frist: x\n", "no_guard.cu: unknown key `frist`; did you mean `first`?"),
        (
            "mistakes.yaml",
            TABLE.replace("no guard", "no: guard"),
            "mistakes.yaml:2:12: no colon is expected here",
        ),
        ("mistakes.yaml", TABLE.replace("[memory]", "memory"), "a list of rubric items"),
        ("mistakes.yaml", "- no_guard.cu\n", "expected a table of mistakes by file name"),
        ("mistakes.yaml", "no_guard.cu: [\n", "mistakes.yaml:2:1: not valid YAML"),
        ("mistakes.yaml", TABLE + TABLE, "mistakes.yaml:5:1: no_guard.cu: `no_guard.cu` is given twice"),
        ("mistakes.yaml", "no_guard.cu:\n\ttitle: a\n", "mistakes.yaml:2:1: a tab is here"),
        ("equivalent.yaml", "x-1: same\n", "expected a list of entries with `mutant` and `why`"),
        ("equivalent.yaml", "- {mutant: x-1}\n", "expected a list of entries"),
        ("equivalent.yaml", "- {mutant: x-1, why: ' '}\n", "expected a list of entries"),
    ],
)
def test_a_table_that_cannot_be_understood_is_refused(
    assignment: Assignment, file: str, text: str, message: str
) -> None:
    """With the file, what was expected, and no traceback."""
    (_mistakes(assignment) / file).write_text(text)
    with pytest.raises(UsageError) as caught:
        read_staff(assignment)
    assert message in str(caught.value)
    assert file in str(caught.value)


def test_an_assignment_without_a_model_solution_is_refused(assignment: Assignment) -> None:
    """Nothing can be proved of it."""
    (_mistakes(assignment).parent / "solution.cu").unlink()
    with pytest.raises(UsageError, match="has no model solution"):
        read_staff(assignment)
