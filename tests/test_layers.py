"""The layers are enforced: imports that must not be are found, and the code as it stands has none."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from grader.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
LINT = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LINT]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_import_respects_the_layers() -> None:
    """Upper imports lower, nothing imports up or sideways, and the core does no input or output."""
    result = _lint(ROOT)
    assert result.returncode == 0, result.stdout


def test_every_command_is_held_to_import_no_other() -> None:
    """The contract lists them by name, so a new one must not be forgotten."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (listed,) = (contract["modules"] for contract in contracts if contract["type"] == "independence")
    assert set(listed) == {f"grader.cli.{command.name.replace('-', '_')}" for command in COMMANDS}


@pytest.mark.parametrize(
    ("module", "forbidden", "complaint"),
    [
        ("model/terms.py", "import grader.reports.text", "not allowed to import grader.reports"),
        ("checks/races.py", "import grader.score", "not allowed to import grader.score"),
        ("score.py", "import subprocess", "not allowed to import subprocess"),
        ("reports/text.py", "import yaml", "not allowed to import yaml"),
        ("ptx/lexer.py", "import numba", "not allowed to import numba"),
        ("helpers.py", "", "not listed as layers"),
        (
            "cli/grade.py",
            "import grader.cli.report",
            "grader.cli.grade is not allowed to import grader.cli.report",
        ),
    ],
)
def test_a_forbidden_import_is_found(module: str, forbidden: str, complaint: str, tmp_path: Path) -> None:
    """Each rule of the contract catches its offence."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "grader", tmp_path / "grader", ignore=shutil.ignore_patterns("__pycache__", "_data")
    )
    with (tmp_path / "grader" / module).open("a") as file:
        file.write(f"\n{forbidden}\n")
    result = _lint(tmp_path)
    assert result.returncode == 1
    assert complaint in result.stdout
