"""What is said where a cluster cannot be had, before anything is graded."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.batch import OutFolder
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


@pytest.mark.parametrize("where", ["cloud", "tcp://", "tcp://host", "tcp://host:port", "tls://:8786"])
def test_what_is_no_cluster_is_refused(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what is expected."""
    with pytest.raises(SystemExit) as ended:
        grade(tmp_path, where)
    assert ended.value.code == 2
    assert "expected `slurm`, `local` or an address such as tcp://HOST:8786" in capsys.readouterr().err


def test_a_scheduler_with_tls_needs_certificates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Which Dask's own configuration names: it is a question of usage."""
    assert grade(tmp_path, "tls://127.0.0.1:9") == 2
    said = capsys.readouterr().err
    assert "--cluster tls://127.0.0.1:9: " in said
    assert "DASK_DISTRIBUTED__COMM__TLS__" in said
    assert said.count("\n") == 1


def test_a_folder_that_is_written_to_is_refused_before_a_cluster_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else jobs would wait in a queue for nothing."""
    with OutFolder(tmp_path / "out").locked():
        assert grade(tmp_path, "tcp://127.0.0.1:9") == 2
    assert "another grader is writing here" in capsys.readouterr().err


def test_what_a_killed_batch_left_of_its_cluster_is_removed(tmp_path: Path) -> None:
    """Its key opens nothing any more, and what its jobs printed is about no batch that runs."""
    left = tmp_path / ".cluster-abcdefgh"
    left.mkdir()
    (left / "key.pem").touch()
    with schedulers.shared_folder(tmp_path) as shared:
        assert list(tmp_path.iterdir()) == [shared]
    assert not list(tmp_path.iterdir())


def test_questions_are_graded_without_a_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They take no time: that is said instead of starting one."""
    sheet = tmp_path / "ada.yaml"
    sheet.write_text("student: ada\nanswers:\n  blocks-x: 75\n")
    options = ["-o", str(tmp_path / "out"), "--cluster", "local"]
    assert main(["grade", "memory-analysis", str(sheet), *options]) == 2
    assert "asks questions, which are graded here: leave out --cluster" in capsys.readouterr().err
