"""The README is one page, its picture is what a student gets, and an installed grader works."""

from __future__ import annotations

from pathlib import Path

from tests import picture

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = ROOT / "reference/matmul/solution.cu"


def test_the_readme_is_one_page() -> None:
    """Anything longer has a page of its own in `docs/`."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 80


def test_the_picture_is_what_a_student_gets() -> None:
    """Word for word; `python -m tests.picture` draws it anew."""
    drawn = picture.FILE.read_text(encoding="utf-8")
    assert picture.words(drawn) == picture.words(picture.draw(picture.feedback()))


def test_the_picture_needs_nothing_from_the_network() -> None:
    """Its fonts are the reader's own, and its only address is the name of its format."""
    drawn = picture.FILE.read_text(encoding="utf-8")
    assert "url(http" not in drawn
    assert "@font-face" not in drawn
