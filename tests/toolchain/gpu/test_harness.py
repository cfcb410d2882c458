"""The harness's answers about cases, in both modes, on a device that is made of Python."""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import concurrent_launches
import harness
import numpy as np
import pytest

from grader.model import Argument, Launch
from grader.toolchain.gpu.answer import read_answer
from grader.toolchain.gpu.request import DeviceCase, Image, Where, run_job
from tests.toolchain.gpu.fake_device import IMAGE, FakeDevice
from tests.toolchain.gpu.fake_harness import run
from tests.toolchain.gpu.harness_jobs import POISON, HarnessJob, N


@pytest.fixture
def job(tmp_path: Path) -> HarnessJob:
    """An empty job."""
    return HarnessJob(tmp_path, IMAGE)


def test_a_case_that_ends_is_done_and_leaves_its_output(job: HarnessJob) -> None:
    """State, time, places and the output's file are all there."""
    answered = run(job.case("copies"))
    assert answered.states == ["done"]
    assert answered.case(0)["seconds"] >= 0
    assert [size for _, size in answered.case(0)["places"].values()] == [4 * N, 4 * N]
    np.testing.assert_array_equal(answered.output(0, "C"), np.arange(N, dtype=np.float32))
    assert answered.content["health"] == "ok"
    assert answered.content["error"] == ""


def test_the_device_and_the_resources_of_its_kernels_are_reported(job: HarnessJob) -> None:
    """The resources are those of the first case's launch."""
    content = run(job.case("copies", block=[8, 8, 1])).content
    assert content["device"]["name"] == "a fake device"
    assert content["resources"]["student"]["blocks_per_multiprocessor"] == 32
    assert {"import", "context", "cases"} <= set(content["seconds"])


def test_a_struct_holds_the_addresses_of_the_arrays_behind_it(job: HarnessJob) -> None:
    """They are filled in where the pointers are, and the arrays are no parameters of their own."""
    answered = run(job.case("copies_in_a_struct", *job.vectors()))
    assert answered.states == ["done"]
    np.testing.assert_array_equal(answered.output(0, "v.c"), np.arange(N, dtype=np.float32))


@pytest.mark.parametrize("mode", ["run", "sanitize"])
def test_variables_of_the_module_are_filled_and_read(job: HarnessJob, mode: str) -> None:
    """Under a tool they are filled as well, and not read back."""
    job.mode, job.symbols = mode, {"A": "A", "C": "C"}
    answered = run(job.case("copies_between_variables", *job.variables()))
    assert answered.states == ["done"]
    assert [size for _, size in answered.case(0)["places"].values()] == [4 * N, 4 * N]
    assert list(answered.case(0)["outputs"]) == (["C"] if mode == "run" else [])
    if mode == "run":
        np.testing.assert_array_equal(answered.output(0, "C"), np.arange(N, dtype=np.float32))


def counted_waves(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that has an entry for each time that launches of a shared run could wait for what is timed."""
    waves: list[str] = []

    def give_way(lock: str, _patience: float) -> float:
        waves.append(lock)
        return 0.0

    monkeypatch.setattr(concurrent_launches, "give_way", give_way)
    return waves


def test_launches_of_a_shared_run_are_done_several_at_a_time(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The launches that ended are reported, and no output is returned."""
    monkeypatch.setattr(concurrent_launches, "AT_ONCE", 2)
    waves = counted_waves(monkeypatch)
    job.mode, job.variables_in_module = "concurrent", False
    for _ in range(5):
        job.case("copies")
    answered = run(job)
    assert answered.states == ["done"] * 5
    assert len(waves) == 3
    assert not (job.folder / "out").exists()
    assert {"import", "context", "cases"} <= set(answered.content["seconds"])


def test_in_a_shared_run_a_module_with_variables_is_launched_by_itself(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is loaded anew for each launch, while nothing of it runs."""
    waves = counted_waves(monkeypatch)
    job.mode, job.symbols = "concurrent", {"A": "A", "C": "C"}
    answered = run(
        job.case("copies_between_variables", *job.variables()).case(
            "copies_between_variables", *job.variables()
        )
    )
    assert answered.states == ["done", "done"]
    assert len(waves) == 2


@pytest.mark.parametrize(("kernel", "more"), [("faults", {}), ("copies", {"block": [64, 32, 1]})])
def test_a_shared_run_ends_with_the_first_launch_that_goes_wrong(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch, kernel: str, more: dict[str, Any]
) -> None:
    """The launches beside it are not reported, nor are those that were still to come."""
    monkeypatch.setattr(concurrent_launches, "AT_ONCE", 2)
    job.mode, job.variables_in_module = "concurrent", False
    answered = run(job.case("copies").case("copies").case(kernel, **more).case("copies").case("copies"))
    assert answered.states == ["done", "done"]
    assert answered.content["error"]


def test_an_inout_array_comes_back_and_is_no_changed_input(job: HarnessJob) -> None:
    """An array that a kernel may change is an output."""
    values = np.arange(N, dtype=np.float32)
    answered = run(job.case("doubles", job.array("X", "inout", values), job.value("N", "int64", N)))
    np.testing.assert_array_equal(answered.output(0, "X"), 2 * values)
    assert answered.case(0)["changed"] == []


def test_an_input_that_a_kernel_wrote_to_is_named(job: HarnessJob) -> None:
    """The input is not returned, but the change is reported."""
    case = run(job.case("changes_its_input")).case(0)
    assert (case["state"], case["changed"], list(case["outputs"])) == ("done", ["A"], ["C"])


def test_writes_beyond_an_array_are_reported_by_element(job: HarnessJob) -> None:
    """The nearest element and how many; the output itself is right."""
    answered = run(job.case("writes_beyond"))
    assert answered.case(0)["outside"] == [{"array": "C", "element": N + 2, "count": 3}]
    np.testing.assert_array_equal(answered.output(0, "C"), np.arange(N, dtype=np.float32))


def test_writes_before_an_array_have_negative_elements(job: HarnessJob) -> None:
    """Elements are counted from the array's start; the nearest one is reported."""
    assert run(job.case("writes_before")).case(0)["outside"] == [{"array": "C", "element": -2, "count": 2}]


@pytest.mark.parametrize("mode", ["run", "sanitize"])
def test_arrays_begin_as_many_elements_past_256_bytes_as_asked(job: HarnessJob, mode: str) -> None:
    """Also where arrays have odd sizes and different types."""
    job.mode = mode
    arrays = [
        job.array("A", "in", np.ones(77, np.float32), offset=1),
        job.array("B", "in", np.ones(13, np.uint8), offset=3),
        job.array("X", "inout", np.ones((2, 5), np.float64)),
        job.array("Y", "inout", np.ones(0, np.float32)),
    ]
    answered = run(job.case("is_fine", *arrays))
    places = answered.case(0)["places"]
    assert [places[name][0] % 256 for name in "ABX"] == [4, 3, 0]
    assert [places[name][1] for name in "ABXY"] == [308, 13, 80, 0]
    assert answered.states == ["done"]


def test_a_launch_that_is_refused_does_not_disturb_the_next(job: HarnessJob) -> None:
    """Too many threads and no blocks at all are refused, with the device's reason."""
    answered = run(job.case("copies", block=[64, 32, 1]).case("copies", grid=[0, 1, 1]).case("copies"))
    assert answered.states == ["refused", "refused", "done"]
    assert answered.case(0)["error"] == "cudaErrorInvalidValue"


def test_after_a_fault_the_next_case_runs_in_a_new_context(job: HarnessJob) -> None:
    """The fault's name and message are reported, and the other cases lose nothing."""
    answered = run(job.case("copies").case("faults").case("copies").case("faults").case("copies"))
    assert answered.states == ["done", "fault", "done", "fault", "done"]
    assert answered.case(1)["error"] == "cudaErrorIllegalAddress"
    assert answered.case(1)["message"] == "an illegal memory access was encountered"
    assert "places" in answered.case(1)


def test_every_case_finds_the_variables_of_its_module_as_they_were_compiled(job: HarnessJob) -> None:
    """A count that a kernel keeps in a `__device__` variable starts anew."""
    answered = run(job.case("counts").case("counts"))
    assert [answered.output(at, "C")[0] for at in (0, 1)] == [1.0, 1.0]


@pytest.mark.parametrize(("in_module", "loads"), [({"variables": False}, 1), ({"variables": True}, 3)])
def test_a_module_without_variables_is_loaded_once_for_all_cases(
    job: HarnessJob, in_module: dict[str, bool], loads: int
) -> None:
    """Under a tool that is what takes long: it rewrites all kernels of a module that is loaded."""
    job.mode, job.variables_in_module = "sanitize", in_module["variables"]
    loaded: list[Path] = []

    class Listening(FakeDevice):
        def load(self, image: Path) -> int:
            loaded.append(image)
            return super().load(image)

    job.case("copies").case(
        "doubles", job.array("X", "inout", np.ones(4, np.float32)), job.value("N", "int64", 4)
    )
    job.case("copies")
    harness.main([job.write()], lambda **_: Listening(job.folder))
    assert job.answer().states == ["done"] * 3
    assert loaded == [job.folder / "student.cubin"] * loads


def test_the_harness_s_output_leads_nowhere() -> None:
    """For C as for Python, in its own process as in those that it forks."""
    code = (
        "import sys; sys.path.insert(0, '.'); "
        "import ctypes, os, harness; harness.silence(); print('by Python', flush=True); os.fork(); "
        "c = ctypes.CDLL(None); c.printf(b'by a kernel'); c.fflush(None)"
    )
    folder = Path(harness.__file__).parent
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_what_kernels_print_comes_out(job: HarnessJob, capfd: pytest.CaptureFixture[str]) -> None:
    """Once each, though their process ends without Python's farewell."""
    assert run(job.case("prints").case("prints")).states == ["done", "done"]
    assert capfd.readouterr().out == "printed by a kernel\n" * 2


def test_a_scalar_is_passed_in_the_width_that_the_kernel_takes(job: HarnessJob) -> None:
    """The request's width wins over the scalar's own type."""
    seen: list[np.generic] = []

    class Listening(FakeDevice):
        def launch(self, *arguments: Any) -> None:  # noqa: ANN401 - as in the class above it
            seen.extend(arguments[-1])
            super().launch(*arguments)

    job.mode = "sanitize"
    job.case("is_fine", job.value("M", "int32", -5), job.value("x", "float32", 0.5), widths={"M": "int64"})
    harness.main([job.write()], lambda **_: Listening(job.folder))
    assert [(value.dtype.name, value.item()) for value in seen] == [("int64", -5), ("float32", 0.5)]


def test_under_a_tool_all_cases_run_in_one_process(job: HarnessJob) -> None:
    """Places are reported; outputs are not read back, because they may never have been written."""
    job.mode = "sanitize"
    answered = run(job.case("copies").case("copies"))
    assert answered.states == ["done", "done"]
    assert set(answered.case(0)["places"]) == {"A", "C"}
    assert answered.case(0)["outputs"] == {}


def test_under_a_tool_nothing_is_launched_while_others_time_their_kernels(job: HarnessJob) -> None:
    """The device's lock is waited for, and not kept."""
    lock = job.folder / "device.lock"
    lock.touch()
    job.mode, job.give_way = "sanitize", str(lock)
    request = job.case("copies").case("copies").write()
    thread = threading.Thread(target=harness.main, args=([request], lambda **_: FakeDevice(job.folder)))
    with lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        thread.start()
        while not (job.folder / "result.json").exists() or not job.answer().states:
            thread.join(0.05)
        thread.join(0.1)
        assert thread.is_alive()
        assert job.answer().states == ["lost"]
    thread.join(10)
    assert job.answer().states == ["done", "done"]
    with lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_under_a_tool_the_wait_for_what_is_timed_has_an_end(
    job: HarnessJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tool's own time is limited, and a timing may be long."""
    monkeypatch.setattr("tasks.PATIENCE", 0.05)
    lock = job.folder / "device.lock"
    lock.touch()
    job.mode, job.give_way = "sanitize", str(lock)
    with lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert run(job.case("copies").case("copies")).states == ["done", "done"]


def test_under_a_tool_arrays_have_exactly_their_size_and_outputs_hold_nothing(job: HarnessJob) -> None:
    """One allocation for each; what is uploaded is inputs alone."""
    job.mode = "sanitize"
    sizes: list[int] = []
    uploads: list[int] = []

    class Listening(FakeDevice):
        def allocate(self, size: int) -> int:
            sizes.append(size)
            return super().allocate(size)

        def upload(self, address: int, array: Any) -> None:  # noqa: ANN401 - as in the class above it
            uploads.append(array.nbytes)
            super().upload(address, array)

    job.case("copies")
    harness.main([job.write()], lambda **_: Listening(job.folder))
    assert (sizes, uploads) == ([4 * N, 4 * N], [4 * N])


def test_under_a_tool_a_stopped_kernel_does_not_end_the_others(job: HarnessJob) -> None:
    """The tool takes the kernel off the device, and the context lives on."""
    job.mode = "sanitize"
    answered = run(job.case("is_stopped").case("copies"))
    assert answered.states == ["fault", "done"]
    assert answered.case(0)["error"] == "cudaErrorLaunchFailure"


def test_under_a_tool_a_dead_context_is_reported_for_the_remaining_cases(job: HarnessJob) -> None:
    """They are lost, by name, not silently left out."""
    job.mode = "sanitize"
    answered = run(job.case("faults").case("copies").case("copies"))
    assert answered.states == ["fault", "lost", "lost"]
    assert answered.case(2)["error"] == "cudaErrorIllegalAddress"
    assert answered.case(2)["message"].startswith("the context was lost: ")


def test_an_unknown_mode_is_our_error(job: HarnessJob) -> None:
    """The answer's error names the mode."""
    job.mode = "guess"
    assert "guess" in json.dumps(run(job).content["error"])


def test_the_hosts_own_request_is_understood(tmp_path: Path) -> None:
    """The job that the host builds, its files, and the outputs that it asks for fit what the harness does."""
    where = Where("python", IMAGE, "GPU-0")
    values, poison = np.arange(N, dtype=np.float32), np.full(N, POISON)
    arguments = (
        Argument("A", "in", values, 1),
        Argument("C", "out", poison, 2),
        Argument("N", "value", np.int32(N)),
    )
    case = DeviceCase(7, Launch((1, 1, 1), (32, 1, 1)), arguments)
    image = Image(IMAGE, "copies", (("N", "int64"),))
    for mode, entries in (("run", ()), ("sanitize", (("7", "is_fine"),))):
        job = run_job(where, (("student", image),), (case,), mode=mode, entries=entries)
        for name, content in job.files:
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_bytes(content)
        assert harness.main([str(tmp_path / job.argv[-1])], lambda **_: FakeDevice(tmp_path)) == 0
        (answered,) = read_answer((tmp_path / "result.json").read_bytes()).cases
        assert (answered.name, answered.state) == ("7", "done")
        assert set(answered.outputs.values()) == ({*job.wanted} - {"result.json"} if mode == "run" else set())


def test_too_little_memory_for_the_arrays_is_our_error(job: HarnessJob) -> None:
    """A kernel cannot have asked for it."""
    big = job.array("A", "in", np.zeros(9 << 20, np.float32))
    answered = run(job.case("copies", big))
    assert answered.states == ["lost"]
    assert "cudaErrorMemoryAllocation" in answered.content["error"]
