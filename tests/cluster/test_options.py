"""What is said where a cluster cannot be had, before anything is graded."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.cli.main import main
from grader.cluster import schedulers
from tests.cluster.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def grade(tmp_path: Path, where: str) -> int:
    """The exit code of `grade` on a cluster."""
    submission = str(ROOT / "reference/vector-add/solution.cu")
    return main(["grade", "vector-add", submission, "-o", str(tmp_path / "out"), "--cluster", where])


@pytest.mark.parametrize(("where", "package"), [("local", "distributed"), ("slurm", "dask-jobqueue")])
def test_a_package_that_is_missing_is_named(
    where: str,
    package: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With what to install; nothing is written."""
    missing = package.replace("-", "_")
    monkeypatch.setattr(schedulers, "find_spec", lambda name: None if name == missing else object())
    assert grade(tmp_path, where) == 3
    said = capsys.readouterr().err
    assert f"--cluster {where}: the package `{package}` is not installed; get what it takes with `pip" in said
    assert not (tmp_path / "out").exists()


def test_what_says_so_needs_none_of_these_packages() -> None:
    """Else it would end in an import that fails."""
    script = "import sys; import grader.cluster.schedulers; sys.exit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


def test_a_machine_without_slurm_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a question of usage."""
    monkeypatch.setattr("grader.cluster.schedulers.shutil.which", lambda _: None)
    assert grade(tmp_path, "slurm") == 2
    assert "--cluster slurm: there is no Slurm here" in capsys.readouterr().err


def test_a_word_that_is_no_cluster_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The message says what is expected."""
    with pytest.raises(SystemExit) as ended:
        grade(tmp_path, "cloud")
    assert ended.value.code == 2
    assert "expected `slurm`, `local` or an address such as tcp://HOST:8786" in capsys.readouterr().err


def test_questions_are_graded_without_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They take no time: that is said instead of starting one."""
    sheet = tmp_path / "ada.yaml"
    sheet.write_text("student: ada\nanswers:\n  blocks-x: 75\n")
    options = ["-o", str(tmp_path / "out"), "--cluster", "local"]
    assert main(["grade", "memory-analysis", str(sheet), *options]) == 2
    assert "asks questions, which are graded here: leave out --cluster" in capsys.readouterr().err
