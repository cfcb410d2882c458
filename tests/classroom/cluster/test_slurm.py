"""A class on a real Slurm with two nodes: as one machine grades it, whatever happens to a node."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder
from tests.classroom.cluster.conftest import assert_same_files, ended, wait_for_first_grade
from tests.documents import blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.classroom.cluster.conftest import Class

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(600)]

SLURM = ("--cluster", "slurm", "--nodes", "2", "-j", "1")


def jobs(state: str = "") -> list[str]:
    """The ids of this user's jobs, in order."""
    command = [
        "/usr/bin/squeue",
        "--me",
        "--noheader",
        "--format",
        "%i",
        *(["--states", state] if state else []),
    ]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return sorted(listed.stdout.split(), key=int)


@pytest.fixture(autouse=True)
def no_job_is_left() -> Iterator[None]:
    """Assert that the jobs of a batch end when it is over, however it ends.

    This Slurm follows processes by their parents, and so loses a worker whose shell ends first; real clusters
    follow them by cgroup.
    """
    yield
    deadline = time.monotonic() + 90
    while jobs() and time.monotonic() < deadline:
        time.sleep(1)
    left = jobs()
    subprocess.run(["/usr/bin/scancel", "--me"], check=True)
    for worker in workers():
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    assert left == []


def prologue(*lines: str) -> dict[str, str]:
    """The environment in which a job begins with these lines of shell."""
    return {"DASK_JOBQUEUE__SLURM__JOB_SCRIPT_PROLOGUE": json.dumps(lines)}


def wait_for_two_workers(out: Path) -> list[str]:
    """The jobs, once two run."""
    deadline = time.monotonic() + 120
    while len(running := jobs("RUNNING")) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(running) == 2, out
    return running


def wait_for_grades(number: int, out: Path, batch: subprocess.Popen[str]) -> None:
    """Wait for a number of further grades."""
    before = len(OutFolder(out).finished())
    while len(OutFolder(out).finished()) < before + number and batch.poll() is None:
        time.sleep(0.05)
    assert batch.poll() is None, "the batch was over too early"


def workers() -> list[int]:
    """The processes of all workers."""
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if b"distributed.cli.dask_worker" in _content(path)
    ]


def job_of(worker: int) -> str:
    """The job that a worker belongs to."""
    environment = _content(Path(f"/proc/{worker}/environ")).split(b"\0")
    return next(value.split(b"=")[1].decode() for value in environment if value.startswith(b"SLURM_JOB_ID="))


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_two_nodes_grade_as_one_machine(
    a_class: Class, on_one_machine: dict[str, object], tmp_path: Path
) -> None:
    """Every file is the same but for seconds, and nothing of the cluster stays behind."""
    code, output = a_class.grade(tmp_path / "out", *SLURM)
    assert code == 0, output
    assert "2 workers" in output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_worker_that_is_killed_and_a_job_that_is_cancelled_lose_nothing(
    a_class: Class, on_one_machine: dict[str, object], tmp_path: Path
) -> None:
    """Both are replaced by new jobs."""
    batch = a_class.start(tmp_path / "out", *SLURM, "--no-cache")
    running = wait_for_two_workers(tmp_path / "out")
    wait_for_first_grade(tmp_path / "out", batch)
    killed = workers()[0]
    (cancelled,) = set(running) - {job_of(killed)}
    os.kill(killed, signal.SIGKILL)
    wait_for_grades(3, tmp_path / "out", batch)  # what the one had is not what the other has now
    subprocess.run(["/usr/bin/scancel", cancelled], check=True)
    code, output = ended(batch)
    assert code == 0, output
    assert output.count("lost: ") == 2
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_node_whose_disk_is_full_is_left_out(
    a_class: Class, on_one_machine: dict[str, object], tmp_path: Path
) -> None:
    """Submissions that failed there are graded elsewhere; the disk fills up while the class is graded."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["/usr/bin/mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], check=True)
    try:
        small = f'if [ "$SLURM_JOB_NODELIST" = n2 ]; then export TMPDIR={disk}; fi'
        batch = a_class.start(tmp_path / "out", *SLURM, "--no-cache", env=prologue(small))
        wait_for_two_workers(tmp_path / "out")
        wait_for_first_grade(tmp_path / "out", batch)
        with suppress(OSError), (disk / "fill").open("wb") as file:  # until it is full
            while True:
                file.write(bytes(2**20))
    finally:
        code, output = ended(batch)
        subprocess.run(["/usr/bin/umount", "--lazy", str(disk)], check=True)
    assert code == 0, output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_node_without_a_compiler_is_left_out(
    a_class: Class, on_one_machine: dict[str, object], tmp_path: Path
) -> None:
    """It is named with what it lacks; the other one grades the class."""
    bare = f'if [ "$SLURM_JOB_NODELIST" = n2 ]; then export PATH={tmp_path}; fi'
    code, output = a_class.grade(tmp_path / "out", *SLURM, env=prologue(bare))
    assert code == 0, output
    assert "not used: " in output
    assert "g++ was not found" in output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_folder_that_is_not_shared_is_a_question_of_usage(a_class: Class, tmp_path: Path) -> None:
    """Jobs that cannot read their certificates end; the last line of one gives the reason."""
    unshared = f"rm -f {tmp_path}/out/.cluster-*/*.pem"
    code, output = a_class.grade(tmp_path / "out", *SLURM, env=prologue(unshared))
    assert code == 2, output
    assert "the jobs of Slurm ended without a worker; the last output of one: " in output
    assert OutFolder(tmp_path / "out").session() is None


def test_jobs_that_slurm_refuses_are_a_question_of_usage(a_class: Class, tmp_path: Path) -> None:
    """A partition that is not there: the message of `sbatch` is reported at once, in one sentence."""
    refused = {"DASK_JOBQUEUE__SLURM__QUEUE": "nosuch"}
    code, output = ended(a_class.start(tmp_path / "out", *SLURM, env=refused), seconds=60)
    assert code == 2, output
    assert "`sbatch` refused a job: " in output
    assert "Invalid partition name specified" in output
    assert output.count("\n") == 1, output
    assert OutFolder(tmp_path / "out").session() is None


def test_jobs_that_wait_in_the_queue_are_reported(a_class: Class, tmp_path: Path) -> None:
    """A cluster that others use: no one has to guess why nothing is graded."""
    busy = ["/usr/bin/sbatch", "--exclusive", "--nodes=2", "--output=/dev/null", "--wrap", "sleep 300"]
    subprocess.run(busy, check=True, capture_output=True)
    batch = a_class.start(tmp_path / "out", *SLURM)
    assert batch.stderr is not None
    output = batch.stderr.readline()
    batch.send_signal(signal.SIGINT)
    code, _ = ended(batch)
    subprocess.run(["/usr/bin/scancel", "--me"], check=True)
    assert "no node is ready yet: 2 jobs in the queue of Slurm (Priority, Resources)" in output
    assert code == 130


def test_an_interrupted_batch_cancels_its_jobs_and_goes_on_where_it_stopped(
    a_class: Class, on_one_machine: dict[str, object], tmp_path: Path
) -> None:
    """Ctrl-C, and the same command again."""
    batch = a_class.start(tmp_path / "out", *SLURM, "--no-cache")
    wait_for_first_grade(tmp_path / "out", batch)
    batch.send_signal(signal.SIGINT)
    code, output = ended(batch)
    assert code == 130, output
    assert "Traceback" not in output
    code, output = a_class.grade(tmp_path / "out", *SLURM)
    assert code == 0, output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_the_array_of_jobs_in_the_documents_grades_a_class(a_class: Class, tmp_path: Path) -> None:
    """Submitted as it stands there, with this class's names; `merge` makes one class of the parts."""
    (script,) = [block for block in blocks("docs/clusters.md", "bash") if "#SBATCH --array" in block]
    script = script.replace("tiled-matmul", "vector-add").replace("submissions/", f"{a_class.submissions}/")
    script = (
        script.replace("--array=1-8", "--array=1-3")
        .replace("_ID/8", "_ID/3")
        .replace("--cpus-per-task=2", "--cpus-per-task=1")
    )
    (tmp_path / "job.sh").write_text(script)
    path = f"{Path(__file__).resolve().parents[3]}/.venv/bin:{os.environ['PATH']}"
    subprocess.run(
        ["/usr/bin/sbatch", "--wait", "job.sh"], cwd=tmp_path, env=os.environ | {"PATH": path}, check=True
    )
    parts = sorted((tmp_path / "parts").iterdir())
    assert [path.name for path in parts] == ["1", "2", "3"]
    grader = shutil.which("grader", path=path)
    assert grader
    subprocess.run([grader, "merge", *map(str, parts), "-o", str(tmp_path / "out")], check=True)
    one = a_class.folder / "one-machine/gradebook.csv"
    if not one.exists():
        assert a_class.grade(one.parent)[0] == 0
    assert (tmp_path / "out/gradebook.csv").read_bytes() == one.read_bytes()
