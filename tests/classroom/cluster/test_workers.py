"""A class on a scheduler that runs already, with workers that come, go, or are not fit."""

from __future__ import annotations

import shutil
import signal
import time
from typing import TYPE_CHECKING

import pytest

from grader.classroom.batch import OutFolder
from tests.classroom.cluster.conftest import ROOT, assert_same_files, ended, wait_for_first_grade

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.classroom.cluster.conftest import Class, Scheduler

pytestmark = pytest.mark.slow

DEADLY = """
import os
from grader.classroom.cluster import node

def deadly(context, plan, submission, tools, limits):
    if b"BRINGS DOWN A WORKER" in submission.source:
        os._exit(1)
    return isolated(context, plan, submission, tools, limits)

if node.isolated.__name__ != "deadly":  # a script is preloaded twice
    isolated = node.isolated
    node.isolated = deadly
"""
"""Preloaded by a worker: a submission that brings it down, as one might that fills a node's memory."""

FAILING = """
from dataclasses import replace
from grader.kinds import pipeline
from grader.classroom.batch.executor import Graded
from grader.classroom.cluster import node

def failing(context, plan, submission, tools, limits):
    return Graded(pipeline.failed(plan, submission, "no space left on device"))

node.isolated = failing
"""
"""Preloaded by a worker: its disk is full, so that whatever is graded there ends with an error of ours."""


HELD = """
import os
import time
from pathlib import Path
from grader.classroom.cluster import node

def held(*arguments):
    Path({path!r} + "-" + str(os.getpid())).touch()
    while Path({path!r}).exists():
        time.sleep(0.1)
    return isolated(*arguments)

if node.isolated.__name__ != "held":
    isolated = node.isolated
    node.isolated = held
"""
"""Preloaded by a worker: it grades nothing while a file is there, and makes another once it should."""


SILENT = """
import os

def dask_setup(worker):
    get_data = worker.handlers["get_data"]

    async def go_down(comm, keys, **options):  # Dask looks for the name of the first parameter
        if any({what!r} in str(key) for key in keys):
            os._exit(1)
        return await get_data(comm, keys=keys, **options)

    worker.handlers["get_data"] = go_down
"""
"""Preloaded by a worker: it does what is asked, and goes down before the answer is fetched."""


def test_a_cluster_in_one_process_grades_as_one_machine(
    a_class: Class, on_one_machine: dict[str, object], tmp_path: Path
) -> None:
    """Every file is the same but for seconds."""
    code, output = a_class.grade(tmp_path / "out", "--cluster", "local", "-j", "2")
    assert code == 0, output
    assert "cluster: 1 worker on " in output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_worker_that_is_killed_loses_nothing(
    a_class: Class, on_one_machine: dict[str, object], scheduler: Scheduler, tmp_path: Path
) -> None:
    """Submissions that it had are graded elsewhere, and one that comes later joins in."""
    doomed = scheduler.worker()
    scheduler.expect(1)
    batch = a_class.start(tmp_path / "out", "--no-cache", "--cluster", scheduler.address)
    wait_for_first_grade(tmp_path / "out", batch)
    doomed.kill()
    scheduler.worker()
    code, output = ended(batch)
    assert code == 0, output
    assert "lost: " in output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_two_workers_that_are_killed_soon_after_each_other_lose_nothing(
    a_class: Class, on_one_machine: dict[str, object], scheduler: Scheduler, tmp_path: Path
) -> None:
    """The second had not graded yet what the first had: it cannot have brought both down."""
    hold = tmp_path / "hold"
    hold.touch()
    both = [scheduler.preloading(HELD.format(path=str(hold))) for _ in range(2)]
    scheduler.expect(2)
    batch = a_class.start(tmp_path / "out", "--no-cache", "--cluster", scheduler.address)
    for worker in both:
        _wait_until_held(hold, worker)
    output = ""
    for worker in both:
        worker.kill()
        output += _read_until("lost: ", batch)
    hold.unlink()
    scheduler.worker()
    code, rest = ended(batch)
    assert code == 0, output + rest
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_worker_that_goes_down_with_a_grade_loses_nothing(
    a_class: Class, on_one_machine: dict[str, object], scheduler: Scheduler, tmp_path: Path
) -> None:
    """Submissions that it had finished are graded again elsewhere."""
    scheduler.preloading(SILENT.format(what="_graded_there"))
    scheduler.worker()
    scheduler.expect(2)
    code, output = a_class.grade(tmp_path / "out", "--no-cache", "--cluster", scheduler.address)
    assert code == 0, output
    assert "lost: " in output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_worker_that_goes_down_with_its_proof_is_named(
    a_class: Class, scheduler: Scheduler, tmp_path: Path
) -> None:
    """The others grade; no message is in the words of Dask."""
    scheduler.preloading(SILENT.format(what="_proved"))
    scheduler.worker()
    scheduler.expect(2)
    code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
    assert code == 0, output
    assert "it went down while it proved itself" in output
    assert "Traceback" not in output


def test_workers_that_are_asked_to_end_are_not_held_against_what_they_had(
    a_class: Class, on_one_machine: dict[str, object], scheduler: Scheduler, tmp_path: Path
) -> None:
    """A cluster that preempts its jobs sends SIGTERM: no submission brought those workers down."""
    hold = tmp_path / "hold"
    hold.touch()
    worker = scheduler.preloading(HELD.format(path=str(hold)))
    scheduler.expect(1)
    batch, output = a_class.start(tmp_path / "out", "--no-cache", "--cluster", scheduler.address), ""
    for _ in range(2):
        _wait_until_held(hold, worker)
        worker.terminate()
        output += _read_until("lost: ", batch)
        worker = scheduler.preloading(HELD.format(path=str(hold)))
    _wait_until_held(hold, worker)
    hold.unlink()
    code, rest = ended(batch)
    assert code == 0, output + rest
    assert_same_files(tmp_path / "out", on_one_machine)


def _wait_until_held(hold: Path, worker: subprocess.Popen[bytes]) -> None:
    """Wait until a submission is under way on a worker that holds it."""
    deadline = time.monotonic() + 60
    while not hold.with_name(f"{hold.name}-{worker.pid}").exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _read_until(words: str, batch: subprocess.Popen[str]) -> str:
    """Return the standard error of a batch up to a line that holds some words."""
    assert batch.stderr is not None
    output = ""
    while words not in output:
        line = batch.stderr.readline()
        assert line, output
        output += line
    return output


@pytest.mark.parametrize("scheduler", [0, 3], indirect=True)
def test_what_brings_down_two_workers_is_set_aside(
    a_class: Class, scheduler: Scheduler, tmp_path: Path
) -> None:
    """It is an error of ours; everybody else is graded, and the next batch tries it again."""
    deadly = a_class.submissions / "zoe.cu"
    deadly.write_text("// BRINGS DOWN A WORKER\n" + (a_class.submissions / "solution_0.cu").read_text())
    try:
        for _ in range(3):
            scheduler.preloading(DEADLY)
        scheduler.expect(3)
        code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
        assert code == 3, output
        assert sorted(OutFolder(tmp_path / "out").finished()) == sorted(
            path.stem for path in a_class.submissions.iterdir() if path != deadly
        )
        assert "went down, one after the other" in (tmp_path / "out/grades/zoe/grade.json").read_text()
        assert [program.poll() for program in scheduler.programs].count(1) == 2
        code, output = a_class.grade(tmp_path / "out")
        assert code == 0, output
    finally:
        deadly.unlink()


def test_a_node_on_which_everything_fails_is_left_out(
    a_class: Class, on_one_machine: dict[str, object], scheduler: Scheduler, tmp_path: Path
) -> None:
    """Submissions that failed there are graded elsewhere, and the node is named with the error."""
    scheduler.preloading(FAILING)
    scheduler.worker()
    scheduler.expect(2)
    code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
    assert code == 0, output
    assert "what fails there is graded elsewhere; last: no space left on device" in output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_worker_with_another_grader_is_left_out(
    a_class: Class, on_one_machine: dict[str, object], scheduler: Scheduler, tmp_path: Path
) -> None:
    """It is named with what it has; where there is no other, nothing is graded and the exit code is 2."""
    other = tmp_path / "other"
    for name in ("grader", "assignments", "reference", "sandbox"):
        shutil.copytree(ROOT / name, other / name)
    with (other / "grader/grading/score.py").open("a") as file:
        file.write("# changed\n")
    scheduler.worker(env={"PYTHONPATH": str(other)})
    scheduler.expect(1)
    code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
    assert code == 2, output
    assert "no node can grade this: " in output
    assert "it has grader files " in output
    assert "install the same there" in output
    assert not (tmp_path / "out/journal.jsonl").exists()
    scheduler.worker()
    scheduler.expect(2)
    code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
    assert code == 0, output
    assert "not used: " in output
    assert_same_files(tmp_path / "out", on_one_machine)


def test_a_worker_without_a_compiler_is_left_out(
    a_class: Class, scheduler: Scheduler, tmp_path: Path
) -> None:
    """It cannot prove itself, and reports what is missing."""
    scheduler.worker(env={"PATH": str(tmp_path)})
    scheduler.expect(1)
    code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
    assert code == 2, output
    assert "g++ was not found" in output


def test_workers_that_may_start_no_processes_report_how_to_start_them(
    a_class: Class, scheduler: Scheduler, tmp_path: Path
) -> None:
    """That is what `dask worker` alone starts."""
    scheduler.worker("--nanny")
    scheduler.expect(1)
    code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
    assert code == 2, output
    assert output.count("\n") == 1, output
    assert "start it with `dask worker --no-nanny`" in output


def test_a_scheduler_without_workers_is_a_question_of_usage(
    a_class: Class, scheduler: Scheduler, tmp_path: Path
) -> None:
    """The message names what to start."""
    time.sleep(3)
    code, output = a_class.grade(tmp_path / "out", "--cluster", scheduler.address)
    assert code == 2, output
    assert f"has no worker; start one on each node: `dask worker --no-nanny {scheduler.address}`" in output


def test_a_scheduler_that_is_not_there_is_a_question_of_usage(a_class: Class, tmp_path: Path) -> None:
    """The message is one sentence, and names how to start one."""
    code, output = a_class.grade(tmp_path / "out", "--cluster", "tcp://127.0.0.1:9")
    assert code == 2, output
    assert "nothing answers there (Connection refused)" in output
    assert output.count("\n") == 1


def test_a_scheduler_that_goes_away_leaves_what_is_graded(
    a_class: Class, scheduler: Scheduler, tmp_path: Path
) -> None:
    """The batch ends with our exit code, and another one goes on from there."""
    scheduler.worker()
    scheduler.expect(1)
    batch = a_class.start(tmp_path / "out", "--no-cache", "--cluster", scheduler.address)
    wait_for_first_grade(tmp_path / "out", batch)
    scheduler.programs[0].send_signal(signal.SIGKILL)
    code, output = ended(batch)
    assert code == 3, output
    assert "run the same command again" in output
    assert "Traceback" not in output
    done = OutFolder(tmp_path / "out").finished()
    assert done
    code, output = a_class.grade(tmp_path / "out")
    assert code == 0, output
