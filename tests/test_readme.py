"""The README is one page, its picture is what a student gets, and an installed grader works."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import picture

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = ROOT / "reference/matmul/solution.cu"


def test_the_readme_is_one_page() -> None:
    """What is longer has a page of its own in `docs/`."""
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


@pytest.mark.slow
def test_an_installed_grader_works_from_anywhere(tmp_path: Path) -> None:
    """The wheel alone, in a folder without the repository, finds its assignment and grades."""
    pip = [sys.executable, "-m", "pip", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", tmp_path / "site", wheel], check=True)
    shutil.copy(SOLUTION, tmp_path / "mine.cu")
    code = "import grader, sys; print(grader.__file__); from grader.cli import main; sys.exit(main())"
    ran = subprocess.run(
        [sys.executable, "-c", code, "check", "tiled-matmul", "mine.cu"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(str(tmp_path / "site"))
    assert "90 of 90 points" in ran.stdout
