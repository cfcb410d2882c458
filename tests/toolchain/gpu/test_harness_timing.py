"""The conditions under which the harness times kernels, and the results of rounds that end badly."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import harness
import numpy as np
import pytest
from device import DeviceFault

from tests.toolchain.gpu.fake_device import IMAGE, FakeDevice
from tests.toolchain.gpu.fake_harness import SHORT, put_timing, run
from tests.toolchain.gpu.harness_jobs import HarnessJob

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def job(tmp_path: Path) -> HarnessJob:
    """An empty job."""
    return HarnessJob(tmp_path, IMAGE)


def test_the_timing_runs_after_the_cases_with_nothing_of_theirs_left(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets their device, the plan, the kernels and the folder; NumPy's numbers pass into JSON."""

    def rounds(device: FakeDevice, plan: Any, kernels: Any, folder: Path) -> dict[str, Any]:  # noqa: ANN401 - JSON
        assert device.holds_nothing()
        return {"rounds": np.int64(3), "ms": np.ones(2), "plan": plan, "kernels": kernels, "in": str(folder)}

    put_timing(monkeypatch, rounds)
    job.timing = {"launches": {}}
    content = run(job.case("copies")).content
    assert content["timing"] == {
        "rounds": 3,
        "ms": [1.0, 1.0],
        "plan": job.timing,
        "kernels": {"student": {"image": "student.cubin", "entry": "copies", "variables": True}},
        "in": str(job.folder),
    }
    assert content["seconds"]["timing"] > 0


def test_cases_and_timing_share_one_context_and_only_the_timing_spins(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel that is timed begins sooner after another one; cases leave a processor free meanwhile."""

    class Noting(FakeDevice):
        def launch(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as they are
            with (job.folder / "spinning").open("a") as file:
                file.write(f"{self.spins}\n")
            super().launch(*arguments, **options)

    def open_device() -> FakeDevice:
        with (job.folder / "opened").open("a") as file:
            file.write("once\n")
        return Noting(job.folder)

    put_timing(monkeypatch, lambda device, *_: {"rounds": int(device.spins)})
    job.timing = {"launches": {}}
    harness.main([job.case("copies").case("copies").write()], open_device)
    assert (job.folder / "opened").read_text() == "once\n"
    assert (job.folder / "spinning").read_text().split() == ["False", "False"]
    assert job.answer().content["timing"] == {"rounds": 1}


def test_a_kernel_that_wrote_beside_its_arrays_is_timed_in_a_context_of_its_own(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other places of the first context may have been changed, too."""

    def open_device() -> FakeDevice:
        with (job.folder / "opened").open("a") as file:
            file.write("once\n")
        return FakeDevice(job.folder)

    put_timing(monkeypatch, lambda *_: {"rounds": 1})
    job.timing = {"launches": {}}
    harness.main([job.case("writes_beyond").case("copies").write()], open_device)
    assert job.answer().states == ["done", "done"]
    assert job.answer().content["timing"] == {"rounds": 1}
    assert (job.folder / "opened").read_text() == "once\nonce\n"


def test_cases_are_timed_in_the_process_that_did_the_last_of_them(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that died before, through no fault of a kernel, costs nothing."""
    put_timing(monkeypatch, lambda *_: {"rounds": 1})
    job.timing = {"launches": {}}
    answered = run(job.case("dies_once").case("copies"))
    assert answered.states == ["done", "done"]
    assert answered.content["timing"] == {"rounds": 1}


def test_a_process_that_dies_while_it_times_is_lost_and_not_tried_again(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal is reported, and the device's health is checked."""

    def rounds(*_: Any) -> None:  # noqa: ANN401 - whatever it is
        with (job.folder / "times").open("a") as file:
            file.write("once\n")
        os.kill(os.getpid(), signal.SIGKILL)

    put_timing(monkeypatch, rounds)
    job.timing = {"launches": {}}
    content = run(job.case("copies")).content
    assert content["timing"]["fault"] == "lost: its process ended without a word (signal 9)"
    assert content["health"] == "ok"
    assert (job.folder / "times").read_text() == "once\n"


def test_a_job_may_have_a_timing_and_no_cases(job: HarnessJob, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its kernels' resources are those of the timed launches."""
    put_timing(monkeypatch, lambda *_: {"rounds": 1})
    job.timing = {"launches": {"student": {"grid": [1, 1, 1], "block": [16, 16, 1], "shared": 64}}}
    content = run(job).content
    assert content["timing"] == {"rounds": 1}
    assert content["resources"]["student"]["blocks_per_multiprocessor"] == 8


@pytest.mark.parametrize("entry", ["faults", "hangs"])
def test_nothing_is_timed_unless_every_case_is_done(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """A kernel that faults is not worth the device's time."""
    put_timing(monkeypatch, lambda *_: {"rounds": 1})
    job.seconds = SHORT
    job.timing = {"launches": {}}
    assert run(job.case("copies").case(entry)).content["timing"] is None


def test_a_fault_while_timing_is_reported_and_the_device_probed(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cases keep what they had."""

    def rounds(_device: FakeDevice, _plan: Any, _kernels: Any, folder: Path) -> None:  # noqa: ANN401 - JSON
        (folder / "broken").touch()
        raise DeviceFault("cudaErrorIllegalAddress", "an illegal memory access was encountered")

    put_timing(monkeypatch, rounds)
    job.timing = {"launches": {}}
    answered = run(job.case("copies"))
    assert answered.states == ["done"]
    assert answered.content["timing"]["stopped"] == "fault"
    assert answered.content["timing"]["fault"].startswith("cudaErrorIllegalAddress: ")
    assert answered.content["health"].startswith("sick: ")


def test_a_kernel_that_hangs_while_timed_is_killed_but_waiting_for_the_lock_is_not(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.6 s without work on the device pass; 0.4 s of a kernel do not."""

    def rounds(device: FakeDevice, *_: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        time.sleep(0.6)
        (job.folder / "waited").touch()
        device.launch(device.function(job.folder / "student.cubin", "hangs"), (1, 1, 1), (1, 1, 1), 0, ())
        device.synchronize()
        return {}

    put_timing(monkeypatch, rounds)
    job.seconds = SHORT
    job.timing = {"launches": {}}
    content = run(job.case("copies")).content
    assert (job.folder / "waited").exists()
    assert content["timing"]["fault"].startswith("timeout: ")
    assert content["health"] == "ok"


@pytest.mark.parametrize("answer", [{"ms": float("nan")}, {"ms": object()}])
def test_a_timing_that_cannot_be_written_is_lost(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any]
) -> None:
    """No NaN gets into `result.json`."""
    put_timing(monkeypatch, lambda *_: answer)
    job.timing = {"launches": {}}
    assert run(job.case("copies")).content["timing"]["fault"].startswith("lost: ")
