"""The places where assignments and references are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import grader
from grader.base.data_files import data_root
from grader.base.errors import UsageError
from grader.grading.assignment import bundled_ids, find_assignment, load_assignment, reference_folder
from grader.grading.assignment.bundled import require_staff_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.grading.assignment.conftest import Write


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package as a wheel lays it out, with one assignment in it."""
    package = tmp_path / "site-packages" / "grader"
    (package / "_data" / "assignments" / "shipped").mkdir(parents=True)
    (package / "_data" / "assignments" / "shipped" / "assignment.yaml").write_text("id: shipped\n")
    (package / "_data" / "reference" / "scaling").mkdir(parents=True)
    monkeypatch.setattr(grader, "__file__", str(package / "__init__.py"))
    return package


def test_in_a_clone_the_data_is_beside_the_package() -> None:
    """The repository's own folders serve as they are."""
    assert (data_root() / "assignments" / "tiled-matmul").is_dir()
    assert (data_root() / "reference").is_dir()
    assert "tiled-matmul" in bundled_ids()


def test_in_an_installation_the_data_is_in_the_package(installed: Path) -> None:
    """A wheel carries the folders inside the package, and they win."""
    assert data_root() == (installed / "_data").resolve()
    assert bundled_ids() == ("shipped",)
    assert find_assignment("shipped") == data_root() / "assignments" / "shipped"


def test_what_is_installed_is_no_assignment_to_grade_by(installed: Path, write: Write) -> None:
    """It lacks hidden cases and solutions; an assignment of one's own has them, wherever the grader is."""
    require_staff_files(write())
    with pytest.raises(UsageError, match=r"`shipped` is installed as students have it.*clone the repository"):
        require_staff_files(find_assignment("shipped"))
    with pytest.raises(UsageError, match="`shipped`"):
        require_staff_files(installed / "_data/assignments/shipped/assignment.yaml")


def test_an_assignment_whose_answers_are_left_out_is_explained(installed: Path) -> None:
    """It is no misspelt id: its file is in a clone."""
    folder = installed / "_data" / "assignments" / "asked"
    folder.mkdir()
    (folder / "README.md").touch()
    with pytest.raises(UsageError, match=r"the file of `asked` holds its answers.*clone the repository"):
        find_assignment("asked")


def test_an_assignment_is_found_by_path(write: Write) -> None:
    """A folder or the file in it, wherever they are."""
    folder = write()
    assert find_assignment(str(folder)) == folder
    assert find_assignment(f"{folder}/assignment.yaml") == folder / "assignment.yaml"


@pytest.mark.parametrize("name", ["shiped", "no/such/folder", "", ".", "\0", "x" * 5000])
def test_a_wrong_id_lists_those_that_exist(installed: Path, name: str) -> None:
    """The next attempt can be right."""
    assert installed.is_dir()
    with pytest.raises(UsageError, match=r"expected one of the bundled ones .*shipped.* or a path") as caught:
        find_assignment(name)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_a_reference_beside_the_assignments_comes_first(write: Write, installed: Path) -> None:
    """A course's own repository needs nothing from the package, and falls back to it."""
    assignment = load_assignment(write())
    own = assignment.path.parent.parent / "reference" / "scaling"
    assert reference_folder(assignment) == own
    own.rename(own.with_name("gone"))
    assert reference_folder(assignment) == (installed / "_data" / "reference" / "scaling").resolve()


def test_a_reference_that_went_away_is_named(write: Write) -> None:
    """An assignment outlives its reference only by accident, and the message names the folder."""
    assignment = load_assignment(write())
    own = reference_folder(assignment)
    own.rename(own.with_name("gone"))
    with pytest.raises(UsageError, match="the folder reference/scaling of `scale` is gone"):
        reference_folder(assignment)
