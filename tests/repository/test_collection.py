"""Every file of tests is run: pytest leaves out folders by their names, without a message."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def test_no_folder_with_tests_is_left_out(pytestconfig: pytest.Config) -> None:
    """By its own name, or by that of a folder above it."""
    left_out = pytestconfig.getini("norecursedirs")
    folders = {part for file in TESTS.rglob("test_*.py") for part in file.relative_to(TESTS).parts[:-1]}
    assert {"nvcc", "assignment"} <= folders
    assert [name for name in sorted(folders) if any(fnmatch(name, each) for each in left_out)] == []


def test_durations_are_recorded_of_tests_that_are_there() -> None:
    """A test that is renamed does not leave its old name behind, and is recorded anew."""
    recorded = list(json.loads((TESTS / "durations.json").read_text(encoding="utf-8")))
    assert recorded == sorted(set(recorded))
    gone = []
    for test in recorded:
        file, _, function = test.partition("[")[0].partition("::")
        path = TESTS.parent / file
        if not path.is_file() or not _defines(path, function.rpartition("::")[2]):
            gone.append(test)
    assert gone == []


def _defines(path: Path, function: str) -> bool:
    """Return whether a file of tests has a function of that name."""
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


def test_another_process_reports_what_failed(tmp_path: Path) -> None:
    """It sends one report of a test that passed, and all three of any other."""
    (tmp_path / "test_endings.py").write_text(ENDINGS, "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-n1", "--dist=loadfile", "-p", "tests.conftest"]
    command += ["-c", str(TESTS.parent / "pyproject.toml"), "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert "3 errors" in ran.stdout, ran.stdout + ran.stderr
    assert "2 failed, 2 passed, 1 skipped, 3 errors" in ran.stdout
    assert all(words in ran.stdout for words in ("before", "after", "printed", "otherwise", "for a reason"))


SHARING = """
import time
import pytest

@pytest.fixture(scope="module")
def shared(): time.sleep(0.2)

def test_first(shared): pass
def test_second(shared): pass
def test_alone(): pass
"""
RECORDING = """
import pathlib, sys, pytest, tests.conftest
tests.conftest.DURATIONS = pathlib.Path("tests/durations.json")
tests.conftest.SLOW, tests.conftest.MUCH_MORE = 0.1, 0.15
sys.exit(pytest.main(["-q", "-p", "tests.conftest", "--record-seconds", *sys.argv[1:], "tests"]))
"""


@pytest.mark.parametrize("processes", [[], ["-n1"]], ids=["", "another process"])
def test_a_shared_fixture_counts_for_each_test_that_needs_it(tmp_path: Path, processes: list[str]) -> None:
    """Whichever of them runs first waits for it: without the first, the second would be no quick test."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/durations.json").write_text("{}")
    (tmp_path / "tests/test_sharing.py").write_text(SHARING)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-c", RECORDING, "-p", "no:cacheprovider", *processes]
    environment = os.environ | {"PYTHONPATH": str(TESTS.parent)}
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    recorded = json.loads((tmp_path / "tests/durations.json").read_text())
    assert list(recorded) == [f"tests/test_sharing.py::test_{name}" for name in ("first", "second")]
