"""A trial of GPUs that is under way while the first submissions are prepared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.classroom.batch import on_this_machine
from grader.classroom.batch.gpu_trial import on_trial
from grader.cli import main as grader
from grader.cli import setup
from grader.model import Submission, Verdict
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import devices, fitness
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import Job, Limits, LocalSandbox
from tests.bundled import bundled
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from grader.running.backends import Backend
    from grader.toolchain.sandbox import Result

OTHER = replace(GPU, uuid="GPU-11111111-0000-4000-8000-000000000000")
POOL = GpuPool((GPU, OTHER), "python3", (("sm_90", b"helper"),), "compute-sanitizer")
BROKEN = b"__global__ void matmul(float *a) { no }\n"
PATIENCE = 60
"""Seconds after which a test gives up."""


@pytest.fixture(autouse=True)
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


def test_whoever_asks_for_a_gpu_waits_until_its_trial_is_over() -> None:
    """And gets what passed."""
    with fitness.undecided() as trial, ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(replace(POOL, trial=trial.path).healthy)
        time.sleep(0.2)
        assert not waiting.done()
        trial.decide([OTHER])
        assert waiting.result(PATIENCE) == (OTHER,)


def test_what_is_decided_once_stays() -> None:
    """A later decision on the same trial changes nothing."""
    with fitness.undecided() as trial:
        trial.decide([])
        trial.decide([GPU])
        assert replace(POOL, trial=trial.path).healthy() == ()


def test_whoever_stops_a_class_waits_for_no_submission_that_waits_for_the_trial() -> None:
    """No GPU has passed then, even before the trial is over."""
    over = threading.Event()

    def trial(_stop_file: Path) -> Backend:
        assert over.wait(PATIENCE)
        return GpuBackend(POOL)

    with on_trial(GpuBackend(POOL), trial) as (awaiting, trial_over), ThreadPoolExecutor(1) as beside:
        assert awaiting.pool
        waiting = beside.submit(awaiting.pool.healthy)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            trial_over()
        still_waits = wait([waiting], 5).not_done
        over.set()
        assert not still_waits
        assert waiting.result(PATIENCE) == ()


class Stuck(PretendGpu):
    """A GPU that another process holds, so that each job waits for it."""

    def run(self, job: Job) -> Result:
        """Until it is ended, or its time is over; keeps how it ended."""
        if not job.gpu:
            return super().run(job)
        self.jobs.append(job)
        waiting = Job(("sleep", "1000"), limits=Limits(wall_seconds=PATIENCE), stop_file=job.stop_file)
        result = LocalSandbox().run(waiting)
        assert result.outcome.seconds < PATIENCE, "the job was not ended"
        self.ended += 1
        return result

    ended = 0


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), OurError("no plan can be made")])
def test_whoever_stops_a_class_does_not_wait_for_the_jobs_of_the_trial(
    problem: BaseException, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The jobs are ended, and no message names a GPU whose trial was not completed."""
    device, backend = Stuck(), GpuBackend(POOL)
    trial = partial(setup.on_trial, backend, Tools(find_toolchain(), device, tmp_path))

    def stopped_during_the_trial() -> None:
        with on_trial(backend, trial):
            until = time.monotonic() + PATIENCE
            while len(device.jobs) < len(POOL.gpus):
                assert time.monotonic() < until, "the trial does not begin"
                time.sleep(0.01)
            raise problem

    with pytest.raises(type(problem)):
        stopped_during_the_trial()
    assert device.ended == len(device.jobs)
    assert "not used" not in capsys.readouterr().err


def test_a_trial_whose_process_is_gone_passes_no_gpu(tmp_path: Path) -> None:
    """The process of the trial ends before the query or while the query waits."""
    program = "from grader.toolchain.gpu import devices, fitness; import sys\n"
    program += f"devices._FOLDERS = ({str(tmp_path)!r},)\n"
    program += "with fitness.undecided() as trial: print(trial.path, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        path = process.stdout.readline().strip()
        with ThreadPoolExecutor(1) as beside:
            waiting = beside.submit(fitness.fit_for_use, POOL.gpus, path)
            process.kill()
            assert waiting.result(PATIENCE) == ()
    with fitness.undecided() as trial:
        pass
    assert fitness.fit_for_use(POOL.gpus, trial.path) == ()


class Noting(LocalSandbox):
    """Notes in a file that something was compiled."""

    marker = Path()

    def run(self, job: Job) -> Result:
        """As it is."""
        self.marker.touch()
        return super().run(job)


def test_submissions_are_compiled_while_gpus_are_on_trial(tmp_path: Path) -> None:
    """The trial ends here when the compiler was seen at work."""
    sandbox, backend = Noting(), GpuBackend(POOL)
    sandbox.marker = tmp_path / "compiled"

    def trial(_stop_file: Path) -> Backend:
        until = time.monotonic() + PATIENCE
        while not sandbox.marker.exists():
            assert time.monotonic() < until, "nothing was compiled"
            time.sleep(0.01)
        return backend

    tools = Tools(find_toolchain(), sandbox, tmp_path)
    executor = on_this_machine(bundled("tiled-matmul"), tools, backend, 1, trial)
    (graded,) = executor.grade(1, [Submission("ada", "ada.cu", BROKEN, "ada")])
    assert graded.grade.verdict is Verdict.FAIL


def untrustworthy(*_: object) -> Backend:
    """A trial that no GPU passes."""
    raise OurError("no GPU here can be trusted with grades: racecheck is blind")


def test_a_class_that_no_gpu_can_grade_keeps_the_grades_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of another backend they would be forgotten otherwise, before the first of the new ones is there."""
    (tmp_path / "ada.cu").write_bytes(BROKEN)
    out = tmp_path / "out"
    command = ["grade", "tiled-matmul", str(tmp_path / "ada.cu"), "-o", str(out), "--seed", "1"]
    assert grader([*command, "--backend", "emulator"]) == 0
    before = (out / "journal.jsonl").read_bytes()
    monkeypatch.setattr(setup, "gpus", lambda _: POOL.gpus)
    monkeypatch.setattr(setup, "backend", lambda *_: GpuBackend(POOL))
    monkeypatch.setattr(setup, "on_trial", untrustworthy)
    assert grader([*command, "--sandbox", "local"]) == setup.OURS
    assert "racecheck is blind" in capsys.readouterr().err
    assert (out / "journal.jsonl").read_bytes() == before
