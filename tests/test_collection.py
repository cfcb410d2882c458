"""Every file of tests is run: pytest leaves out folders by their names, and says nothing of it."""

from __future__ import annotations

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def test_no_folder_with_tests_is_left_out(pytestconfig: pytest.Config) -> None:
    """By its own name, or by that of a folder above it."""
    left_out = pytestconfig.getini("norecursedirs")
    folders = {part for file in TESTS.rglob("test_*.py") for part in file.relative_to(TESTS).parts[:-1]}
    assert {"nvcc", "assignment"} <= folders
    assert [name for name in sorted(folders) if any(fnmatch(name, each) for each in left_out)] == []


@pytest.mark.parametrize("name", ["slow.txt", "unhurried.txt"])
def test_a_list_of_slower_tests_names_only_what_there_is(name: str) -> None:
    """A test that is renamed does not leave its old name behind, and is listed anew."""
    listed = (TESTS / name).read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    gone = []
    for test in listed:
        file, _, function = test.partition("[")[0].partition("::")
        path = TESTS.parent / file
        if not path.is_file() or (function and not _defines(path, function.rpartition("::")[2])):
            gone.append(test)
    assert gone == []


def test_the_list_of_files_that_begin_first_names_only_what_there_is() -> None:
    """Each once."""
    listed = (TESTS / "longest.txt").read_text(encoding="utf-8").splitlines()
    assert len(set(listed)) == len(listed)
    assert [file for file in listed if not (TESTS.parent / file).is_file()] == []


def _defines(path: Path, function: str) -> bool:
    """Whether a file of tests has a function of that name."""
    return re.search(rf"def {function}\(", path.read_text(encoding="utf-8")) is not None


ENDINGS = """
import pytest

@pytest.fixture
def refused():
    raise RuntimeError("before")

@pytest.fixture
def ending():
    yield
    raise RuntimeError("after")

def test_right(): pass
def test_wrong(capsys): print("printed"); assert "so" == "otherwise"
def test_begun(refused): pass
def test_ended(ending): pass
def test_wrong_and_ended(ending): assert False
def test_passed_over(): pytest.skip("for a reason")
"""


def test_another_process_says_what_failed(tmp_path: Path) -> None:
    """It sends one report of a test that passed, and all three of any other."""
    (tmp_path / "test_endings.py").write_text(ENDINGS, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-n1", "--dist=loadfile", "-p", "tests.conftest"]
    command += ["-c", str(TESTS.parent / "pyproject.toml"), "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert "3 errors" in ran.stdout, ran.stdout + ran.stderr
    assert "2 failed, 2 passed, 1 skipped, 3 errors" in ran.stdout
    assert all(words in ran.stdout for words in ("before", "after", "printed", "otherwise", "for a reason"))
