"""A sound assignment is kept, and never used once anything it came from has changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.base.errors import SpecError
from grader.grading.assignment import find_assignment, load_assignment, recall

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of an assignment with its reference beside it."""
    shutil.copytree(ROOT / "assignments/tiled-matmul", tmp_path / "assignments/tiled-matmul")
    hundreds = shutil.ignore_patterns("mistakes", "__pycache__")
    shutil.copytree(ROOT / "reference/matmul", tmp_path / "reference/matmul", ignore=hundreds)
    return tmp_path / "assignments/tiled-matmul"


@pytest.fixture
def cache(folder: Path, tmp_path: Path) -> Path:
    """A cache that holds it."""
    load_assignment(folder, tmp_path / "cache")
    return tmp_path / "cache"


def test_what_is_recalled_is_what_was_loaded(folder: Path, cache: Path) -> None:
    """To the last field."""
    assert recall(folder, cache) == load_assignment(folder)


@pytest.mark.parametrize("changed", ["assignment.yaml", "../../reference/matmul/naive.cu", "new.h"])
def test_a_changed_or_new_file_makes_it_forgotten(folder: Path, cache: Path, changed: str) -> None:
    """Whatever the assignment came from."""
    with (folder / changed).open("ab") as file:
        file.write(b"\n")
    assert recall(folder, cache) is None


def test_a_file_that_became_wrong_is_refused(folder: Path, cache: Path) -> None:
    """The cache never hides a problem."""
    with (folder / "assignment.yaml").open("a") as file:
        file.write("nonsense: 1\n")
    with pytest.raises(SpecError, match="nonsense"):
        load_assignment(folder, cache)


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x80\x04N."])
def test_an_entry_that_cannot_be_read_is_as_good_as_none(folder: Path, cache: Path, content: bytes) -> None:
    """Cut off, foreign, or of something else."""
    (entry,) = cache.iterdir()
    entry.write_bytes(content)
    assert recall(folder, cache) is None


def test_an_entry_that_others_may_write_is_not_read(folder: Path, cache: Path) -> None:
    """It could hold anything."""
    (entry,) = cache.iterdir()
    entry.chmod(0o666)
    assert recall(folder, cache) is None


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    """The assignment is loaded all the same."""
    (tmp_path / "file").write_text("in the way")
    assert load_assignment(find_assignment("tiled-matmul"), tmp_path / "file/cache").id == "tiled-matmul"
