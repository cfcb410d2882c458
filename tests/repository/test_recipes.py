"""The recipes of docs/recipes.md work: in a copy of the repository, each step as it is written there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.documents import FENCED, ROOT, read

if TYPE_CHECKING:
    from pathlib import Path

RECIPES = {
    part.split("\n", 1)[0]: FENCED.findall(part)
    for part in re.split(r"^## Recipe: ", read("docs/recipes.md"), flags=re.MULTILINE)[1:]
}
COPIED = ("assignments", "docs", "grader", "reference", "sandbox", "tests")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of what the recipes touch and their tests read."""
    ignored = shutil.ignore_patterns("__pycache__", "_data")
    for folder in COPIED:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_there_are_recipes() -> None:
    """Each with diffs and a command: else the test below would pass for nothing."""
    assert len(RECIPES) == 6
    assert all({"diff", "sh"} <= {language for language, _ in steps} for steps in RECIPES.values())


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_works(recipe: str, repository: Path) -> None:
    """The first diff makes a test fail, the others mend it, and what they leave is formatted and clean."""
    diffs = [content for language, content in RECIPES[recipe] if language == "diff"]
    (command,) = [content for language, content in RECIPES[recipe] if language == "sh"]
    _apply(diffs[0], repository)
    assert _tests(command, repository).returncode == 1
    for diff in diffs[1:]:
        _apply(diff, repository)
    process = _tests(command, repository)
    assert process.returncode == 0, process.stdout
    changed = re.findall(r"^\+\+\+ b/(\S+\.py)$", "\n".join(diffs), re.MULTILINE)
    for tool in (["check", "--no-cache", "--quiet"], ["format", "--check", "--no-cache", "--quiet"]):
        subprocess.run([sys.executable, "-m", "ruff", *tool, *changed], cwd=repository, check=True)


def _apply(diff: str, repository: Path) -> None:
    """Change the copy as a step describes; line numbers may have moved, the lines may not have changed."""
    command = ["git", "apply", "-"]
    applied = subprocess.run(command, cwd=repository, input=diff, capture_output=True, text=True, check=False)
    names = ", ".join(re.findall(r"^\+\+\+ b/(\S+)$", diff, re.MULTILINE))
    assert not applied.returncode, f"docs/recipes.md: the diff of {names} no longer fits; write it again"


def _tests(command: str, repository: Path) -> subprocess.CompletedProcess[str]:
    """Run the recipe's command with this Python, stopping at the first failure."""
    program, *arguments = shlex.split(command)
    assert program == ".venv/bin/python"
    options = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return subprocess.run(
        [sys.executable, *arguments, *options], cwd=repository, capture_output=True, text=True, check=False
    )
