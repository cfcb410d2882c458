"""The harness's behaviour when a kernel hangs, a process dies, a device is sick, or it is killed itself."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import harness
import pytest
import supervisor
from child_process import Child
from device import DeviceFault

from grader.toolchain.gpu.answer import read_answer
from tests.toolchain.gpu.fake_device import IMAGE, FakeDevice
from tests.toolchain.gpu.fake_harness import SHORT, put_timing, run
from tests.toolchain.gpu.harness_jobs import HarnessJob

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def job(tmp_path: Path) -> HarnessJob:
    """An empty job."""
    return HarnessJob(tmp_path, IMAGE)


def test_a_kernel_that_hangs_is_killed_and_the_others_run(job: HarnessJob) -> None:
    """The device is found well afterwards."""
    job.seconds = SHORT
    answered = run(job.case("copies").case("hangs").case("copies"))
    assert answered.states == ["done", "timeout", "done"]
    assert answered.case(1)["seconds"] == 0.4
    assert answered.content["health"] == "ok"


def test_after_a_first_time_out_the_others_get_less_time(job: HarnessJob) -> None:
    """A kernel that takes 0.5 s passes before it and not after it."""
    job.seconds = SHORT | {"case": 1.2, "after_timeout": 0.2}
    answered = run(job.case("takes").case("hangs").case("takes").case("copies"))
    assert answered.states == ["done", "timeout", "timeout", "done"]
    assert [answered.case(at)["seconds"] for at in (1, 2)] == [1.2, 0.2]


def test_a_run_that_is_repeated_after_a_hang_begins_nothing_after_it(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results of the other cases would not be read; the device's health is still checked."""
    job.seconds = SHORT
    job.stop_at_hang = True
    job.timing = {"launches": {}}
    put_timing(monkeypatch, lambda *_: {"stopped": "settled"})
    answered = run(job.case("copies").case("hangs").case("copies").case("hangs"))
    assert answered.states == ["done", "timeout"]
    assert (answered.content["health"], answered.content["timing"]) == ("ok", None)
    job.stop_at_hang = False
    assert run(job).states == ["done", "timeout", "done", "timeout"]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("hangs_and_breaks_the_device", "a kernel of ours got 1 of 65536 numbers wrong"),
        ("hangs_and_hides_the_device", "cudaErrorNoDevice: no CUDA-capable device is detected"),
    ],
)
def test_nothing_more_is_tried_on_a_device_that_did_not_recover(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch, entry: str, why: str
) -> None:
    """Its health gives the reason; cases not begun are absent and nothing is timed."""
    job.seconds = SHORT
    job.timing = {"launches": {}}
    put_timing(monkeypatch, lambda *_: {"stopped": "settled"})
    answered = run(job.case("copies").case(entry).case("copies"))
    assert answered.states == ["done", "timeout"]
    assert answered.content["health"] == f"sick: {why}"
    assert answered.content["timing"] is None


def test_a_case_whose_process_died_once_is_tried_again(job: HarnessJob) -> None:
    """The first death may have been ours."""
    assert run(job.case("dies_once").case("copies")).states == ["done", "done"]


def test_a_case_whose_process_dies_twice_is_lost_and_the_others_run(job: HarnessJob) -> None:
    """The signal is reported."""
    answered = run(job.case("dies").case("copies"))
    assert answered.states == ["lost", "done"]
    assert answered.case(0)["message"] == "twice: its process ended without a word (signal 9)"


def test_an_error_of_the_machine_is_not_the_kernels_fault(job: HarnessJob) -> None:
    """A kernel that meets broken memory is tried again, then lost; the harness reports an error of ours."""
    answered = run(job.case("meets_broken_memory").case("copies"))
    assert answered.states == ["lost"]
    assert "cudaErrorECCUncorrectable" in answered.content["error"]


def test_a_device_that_cannot_be_opened_is_sick(job: HarnessJob) -> None:
    """No case is begun."""
    (job.folder / "hidden").touch()
    content = run(job.case("copies")).content
    assert (content["cases"], content["device"]) == ([], None)
    assert content["health"].startswith("sick: cudaErrorNoDevice")


def test_a_driver_that_is_too_old_is_our_error_and_no_sickness(job: HarnessJob) -> None:
    """Staff have to install another driver; the device may be used again after that."""

    def open_device(**_options: bool) -> FakeDevice:
        raise DeviceFault("cudaErrorInsufficientDriver", "CUDA driver version is insufficient")

    assert harness.main([job.case("copies").write()], open_device) == 0
    content = job.answer().content
    assert content["health"] == "ok"
    assert "cudaErrorInsufficientDriver" in content["error"]


def test_a_cubin_for_another_device_is_our_error_and_no_sickness(job: HarnessJob) -> None:
    """The device is asked with helpers that load; the student's image does not."""
    (job.folder / "student.cubin").write_bytes(b"for another device")
    content = run(job.case("copies").case("copies")).content
    assert content["health"] == "ok"
    assert content["error"].startswith("case 0: cudaErrorNoKernelImageForDevice")


def test_helpers_for_another_device_are_our_error_and_no_sickness(job: HarnessJob) -> None:
    """The question whether the device is well cannot be asked."""
    job.seconds = SHORT
    (job.folder / "helpers.cubin").write_bytes(b"for another device")
    content = run(job.case("hangs").case("copies")).content
    assert content["health"] == "ok"
    assert content["error"].startswith("the device cannot be asked whether it is well")


def test_a_file_that_is_missing_is_our_error(job: HarnessJob) -> None:
    """A failure in our own code is reported with its exception."""
    job.case("copies")
    (job.folder / "in" / "0-A.npy").unlink()
    answered = run(job)
    assert answered.states == ["lost"]
    assert "FileNotFoundError" in answered.content["error"]


def test_the_time_for_all_ends_what_runs_and_what_has_not_begun(job: HarnessJob) -> None:
    """Kernels used it up, so the cases that did not begin are time-outs too."""
    job.seconds = {"case": 30.0, "after_timeout": 30.0, "probe": 5.0, "total": 1.2}
    answered = run(job.case("copies").case("hangs").case("copies"))
    assert answered.states == ["done", "timeout", "timeout"]
    assert answered.case(2)["message"] == "not begun: all time was used up"


def test_time_that_no_kernel_used_up_makes_no_time_out(job: HarnessJob) -> None:
    """A device that takes long to open is not the student's: what did not begin is lost."""

    class Slow(FakeDevice):
        def __init__(self, folder: Path) -> None:
            time.sleep(0.5)
            super().__init__(folder)

    job.seconds = SHORT | {"total": 0.2}
    harness.main([job.case("copies").case("copies").write()], lambda **_: Slow(job.folder))
    assert job.answer().states == ["lost", "lost"]
    assert job.answer().case(0)["message"] == "not begun: all time was used up"


def test_a_process_that_stays_silent_is_ended_and_lost(job: HarnessJob) -> None:
    """It hangs in our own steps, not in a kernel: that is no time-out."""

    class Stuck(FakeDevice):
        def upload(self, *_: Any) -> None:  # noqa: ANN401 - as in the class above it
            time.sleep(1e6)

    job.seconds = {"case": 0.1, "after_timeout": 0.1, "probe": 0.5, "total": 60.0}
    harness.main([job.case("copies").write()], lambda **_: Stuck(job.folder))
    assert job.answer().states == ["lost"]
    assert job.answer().case(0)["message"] == "twice: its process said nothing for 0.6 s"


def test_a_process_that_cannot_be_ended_makes_the_device_sick(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver did not let go of it: nothing more is tried there."""

    class Stubborn(Child):
        def reap(self, patience: float) -> int | None:
            return None if super().reap(patience) else 0

    monkeypatch.setattr(supervisor, "Child", Stubborn)
    job.seconds = SHORT
    answered = run(job.case("hangs").case("copies"))
    assert answered.states == ["timeout"]
    assert answered.content["health"] == "sick: a process that had used the device could not be ended"


def started(job: HarnessJob) -> Child:
    """The harness at work in a process of its own."""
    request = job.write()

    def work(_tell: object) -> None:
        harness.main([request], lambda **_: FakeDevice(job.folder))

    return Child(work)


def waited_for(happens: Callable[[], bool]) -> None:
    """Come back when it has happened; fail if it never does."""
    for _ in range(10_000):
        if happens():
            return
        time.sleep(0.001)
    pytest.fail("it never happened")


@pytest.mark.parametrize("mode", ["run", "sanitize"])
@pytest.mark.parametrize("known", [0, 1, 7, 20])
def test_killed_at_any_moment_the_harness_leaves_what_was_known(
    job: HarnessJob, mode: str, known: int
) -> None:
    """The answer is whole whenever it is read; cases that were done stay done, and the last may be lost."""
    job.mode = mode
    for _ in range(25):
        job.case("copies")
    working = started(job)
    result = job.folder / "result.json"

    def is_known() -> bool:
        return result.exists() and len(job.answer().states) >= known

    waited_for(is_known)
    working.kill()
    assert working.reap(10) is not None
    read_answer(result.read_bytes())
    states = job.answer().states
    assert len(states) >= known
    assert set(states[:-1]) <= {"done"}
    assert set(states[-1:]) <= {"done", "lost"}


def test_a_kernel_that_hangs_ends_with_the_harness(job: HarnessJob) -> None:
    """No process would be left to kill it, so its process dies when its parent does."""
    working = started(job.case("hangs_and_records_its_process"))
    record = job.folder / "process"
    waited_for(lambda: record.exists() and bool(record.read_text()))
    process = int(record.read_text())
    assert _runs(process)
    working.kill()
    working.reap(10)
    waited_for(lambda: not _runs(process))


def _runs(process: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state not in "ZX"
