"""Every file of tests is run: pytest leaves out folders by their names, and says nothing of it."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

TESTS = Path(__file__).parent


def test_no_folder_with_tests_is_left_out(pytestconfig: pytest.Config) -> None:
    """By its own name, or by that of a folder above it."""
    left_out = pytestconfig.getini("norecursedirs")
    folders = {part for file in TESTS.rglob("test_*.py") for part in file.relative_to(TESTS).parts[:-1]}
    assert {"nvcc", "assignment"} <= folders
    assert [name for name in sorted(folders) if any(fnmatch(name, each) for each in left_out)] == []
