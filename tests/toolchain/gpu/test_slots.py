"""The slot that a harness holds as long as it has a context: who waits for it, and whose time that is."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import slots

from grader.toolchain.gpu import devices
from tests.toolchain.gpu.fake_device import IMAGE
from tests.toolchain.gpu.fake_harness import run
from tests.toolchain.gpu.harness_jobs import Answered, HarnessJob
from tests.toolchain.gpu.pretend import GPU

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHORT = {"case": 0.2, "after_timeout": 0.2, "probe": 0.2, "total": 0.5}
WAITED = 1.0
"""More than the whole time of a harness that waits for no slot."""


@pytest.fixture
def job(tmp_path: Path) -> HarnessJob:
    """A job with nothing in it, in a folder of its own."""
    return HarnessJob(tmp_path, IMAGE)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The files of the harnesses' slots, in a folder for one test."""
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))
    return tuple(map(str, devices.slot_files(GPU, devices.HARNESS)))


HOLDER = """
import fcntl, sys, time
locks = [open(path, "rb") for path in sys.argv[1:]]
for lock in locks:
    fcntl.flock(lock, fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def held(paths: Sequence[str]) -> Iterator[None]:
    """Files locked by a process of their own: one that a test forks would keep locks of the test itself."""
    command = [sys.executable, "-c", HOLDER, *paths]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            yield
        finally:
            process.kill()


def test_a_harness_that_waits_for_its_slot_has_all_of_its_time_afterwards(
    job: HarnessJob, files: tuple[str, ...]
) -> None:
    """No limit runs meanwhile, nothing is begun, and the wait is reported by itself."""
    job.slots, job.seconds = files, SHORT
    answers: list[Answered] = []
    thread = threading.Thread(target=lambda: answers.append(run(job.case("copies"))))
    with held(files[1:]):
        thread.start()
        time.sleep(WAITED)
        assert thread.is_alive()
        assert job.answer().states == []
    thread.join(20)
    (answered,) = answers
    assert (answered.states, answered.content["health"], answered.content["error"]) == (["done"], "ok", "")
    seconds = answered.content["seconds"]
    assert seconds["slot"] > WAITED / 2
    assert seconds["cases"] < seconds["slot"]


def test_the_slot_is_held_from_kernel_to_kernel_and_free_after_the_last(
    job: HarnessJob, files: tuple[str, ...]
) -> None:
    """A kernel that hangs is killed with its process, but the next one need not wait for a slot anew."""
    job.slots, job.seconds = files, SHORT | {"total": 20.0}
    with Path(files[1]).open("rb") as first:
        thread = threading.Thread(target=lambda: run(job.case("hangs").case("hangs")))
        thread.start()
        while not (job.folder / "result.json").exists() or job.answer().states != ["lost"]:
            time.sleep(0.01)
        while not slots.try_lock(first, fcntl.LOCK_EX):
            time.sleep(0.001)
        assert job.answer().states == ["timeout", "timeout"]
    thread.join(20)


def test_the_slot_is_free_while_the_last_process_ends(files: tuple[str, ...]) -> None:
    """Taking a context down keeps no other job waiting: a child gives back what its parent holds."""
    with slots.slot(files) as held:
        child = os.fork()
        if not child:
            held.release()
            os._exit(0)
        os.waitpid(child, 0)
        with Path(files[1]).open("rb") as first:
            assert slots.try_lock(first, fcntl.LOCK_EX)


def test_inside_and_outside_wait_for_the_same_slots(files: tuple[str, ...]) -> None:
    """Programs on a GPU hold theirs outside, and a harness inside of its sandbox."""
    entered = threading.Event()

    def outside() -> None:
        with devices.slot(GPU, devices.HARNESS):
            entered.set()

    with ExitStack() as inside:
        for _ in range(devices.HARNESSES):
            inside.enter_context(slots.slot(files))
        thread = threading.Thread(target=outside)
        thread.start()
        assert not entered.wait(0.2)
    assert entered.wait(10)
    thread.join(10)


def test_without_slots_there_is_no_wait() -> None:
    """A process that has a GPU alone shares nothing."""
    with slots.slot(()) as held:
        assert held.waited < WAITED
        held.release()
