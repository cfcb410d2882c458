"""Tools that were started before there was anything to run."""

from __future__ import annotations

import errno
import json
import tempfile
import time
import zipfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.base import processors
from grader.grading.assignment import reference_folder
from grader.kinds import pipeline
from grader.model import Submission, Verdict
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import RaceJudge, devices, tools_started_early
from grader.toolchain.gpu.pool import GpuPool, with_prestarted_tools
from grader.toolchain.gpu.request import JobLaunches
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import Outcome, Result, Status
from tests.builds import shared_builds
from tests.bundled import bundled
from tests.toolchain.gpu.captured import access, document, log
from tests.toolchain.gpu.fake_device import IMAGE
from tests.toolchain.gpu.fake_harness import run
from tests.toolchain.gpu.harness_jobs import HarnessJob
from tests.toolchain.gpu.pretend import GPU, PretendGpu

if TYPE_CHECKING:
    from grader.model import Grade
    from grader.toolchain.sandbox import Job

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
ASSIGNMENT = bundled("tiled-matmul")
SOLUTION = (reference_folder(ASSIGNMENT) / "solution.cu").read_bytes()
RACING = SOLUTION.replace(b"__syncthreads();", b"", 1)
POOL = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),), "compute-sanitizer")


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(devices, "LEAST_TOOLS", len(TOOLS))
    monkeypatch.setattr(processors, "available", lambda: 16)


def checked(device: PretendGpu, source: bytes, pool: GpuPool = POOL) -> Grade:
    """Return the grade that a check gives a file on a pretended device."""
    tools = Tools(find_toolchain(), device, shared_builds())
    with GpuBackend(pool).prestarted(tools) as backend:
        plan = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True, backend=backend)
        return pipeline.grade(plan, Submission("s", "matmul.cu", source, "d"), tools)


def runs(device: PretendGpu) -> list[tuple[str, bool]]:
    """The tools that ran, and whether each had been started before its launches came."""
    return sorted(
        (job.argv[job.argv.index("--tool") + 1], bool(json.loads(dict(job.files)["request.json"])["awaits"]))
        for job in device.jobs
        if "--tool" in job.argv
    )


def test_what_a_check_runs_under_tools_was_started_before_it_was_built() -> None:
    """All tools, each once, and each comes to its end."""
    device = PretendGpu()
    assert dict(checked(device, SOLUTION).witnesses) == dict.fromkeys(TOOLS, "ok")
    assert runs(device) == sorted((tool, True) for tool in TOOLS)


def test_a_tool_that_will_find_something_is_ended_and_run_with_names_of_launches() -> None:
    """Racecheck reports on single launches where the emulator saw a race."""
    device = PretendGpu()
    checked(device, RACING)
    assert runs(device) == sorted([*((tool, True) for tool in TOOLS), ("racecheck", False)])


def test_a_tool_that_is_not_silent_is_run_again_with_names_of_launches() -> None:
    """A tool that was started early reports that there is a finding, but not for which launch."""
    device = PretendGpu(
        forge=lambda tool, files: (
            files
            | {"memcheck.xml": document(access("grader_case_0")).encode(), "memcheck.log": log(1).encode()}
            if tool == "memcheck"
            else files
        )
    )
    checked(device, SOLUTION)
    assert runs(device).count(("memcheck", True)) == 1
    assert ("memcheck", False) in runs(device)


def test_a_file_that_does_not_compile_ends_the_tools() -> None:
    """Nothing is launched, and nothing is left that waits."""
    device = PretendGpu()
    assert checked(device, b"this is no C++").verdict is Verdict.FAIL
    assert runs(device) == sorted((tool, True) for tool in TOOLS)


def test_only_the_tools_that_judge_are_started() -> None:
    """Those that the races are left to."""
    device = PretendGpu()
    checked(device, SOLUTION, replace(POOL, races=RaceJudge.EMULATOR))
    assert ("racecheck", True) not in runs(device)


def test_without_compute_sanitizer_nothing_is_started() -> None:
    """The harness alone runs."""
    device = PretendGpu()
    checked(device, SOLUTION, replace(POOL, sanitizer=""))
    assert runs(device) == []


def test_in_containers_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that does not compile would wait until they are removed."""
    monkeypatch.setattr(PretendGpu, "shuts_in", True)
    device = PretendGpu()
    checked(device, SOLUTION)
    assert runs(device) == sorted((tool, False) for tool in TOOLS)


def test_where_no_slot_is_free_tools_begin_when_there_is_something_to_run() -> None:
    """A tool waits for a slot only when it has something to run, because other students use the GPU, too."""
    device = PretendGpu()
    tools = Tools(find_toolchain(), device, shared_builds())
    with ExitStack() as stack:
        slots = [stack.enter_context(path.open("rb")) for path in devices.slot_files(GPU, devices.SHARED)[1:]]
        assert all(map(devices.try_lock, slots))
        with with_prestarted_tools(POOL, tools) as pool:
            assert pool.prestarted is not None
            assert pool.prestarted.result("memcheck", JobLaunches({}, [], ())) is None
    assert runs(device) == []


def test_with_few_slots_the_tool_that_takes_longest_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool still gives its verdict."""
    monkeypatch.setattr(devices, "tools_at_once", lambda _gpu: 1)
    device = PretendGpu()
    assert dict(checked(device, SOLUTION).witnesses) == dict.fromkeys(TOOLS, "ok")
    assert runs(device) == sorted((tool, tool == "racecheck") for tool in TOOLS)


def test_every_tool_is_started_where_all_slots_are_free() -> None:
    """A tool that takes its slot is not mistaken for one that waits for a slot."""
    tools = Tools(find_toolchain(), PretendGpu(), shared_builds())
    for _ in range(40):
        with with_prestarted_tools(POOL, tools) as pool:
            assert pool.prestarted is not None
            assert [tool for tool in TOOLS if tool in pool.prestarted] == list(TOOLS)


def test_where_tools_cannot_be_started_a_check_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for them or the locks are missing; what needs these later reports it."""
    tools = Tools(find_toolchain(), PretendGpu(), shared_builds())
    with monkeypatch.context() as patched:
        patched.setattr(tempfile, "tempdir", "/dev/null")
        with with_prestarted_tools(POOL, tools) as pool:
            assert pool.prestarted is None
    monkeypatch.setattr(devices, "_FOLDERS", ("/proc",))
    with with_prestarted_tools(POOL, tools) as pool:
        assert pool.prestarted is None


def test_where_launches_cannot_be_written_a_tool_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is nothing that the run of a tool would not speak of; the one that waits is ended."""

    def full(*_: object) -> bytes:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tools_started_early, "packed", full)
    device = PretendGpu()
    assert dict(checked(device, SOLUTION).witnesses) == dict.fromkeys(TOOLS, "ok")
    assert runs(device) == sorted((tool, early) for tool in TOOLS for early in (False, True))


def test_launches_that_hang_have_as_long_as_in_a_run_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not get the rest of the waiting time, because others wait for the slot and the GPU alone."""

    class Hanging(PretendGpu):
        def run(self, job: Job) -> Result:
            deadline = time.monotonic() + 5
            while not Path(job.stop_file).exists() and time.monotonic() < deadline:
                time.sleep(0.005)
            return Result(Outcome(Status.TIME, -9, b"", b"", 0.1))

    monkeypatch.setattr(tools_started_early, "TOOL_SECONDS", 0.1, raising=False)
    began = time.monotonic()
    with with_prestarted_tools(POOL, Tools(find_toolchain(), Hanging(), shared_builds())) as pool:
        assert pool.prestarted is not None
        result = pool.prestarted.result("racecheck", JobLaunches({}, [], ()))
    assert result is not None
    assert result.outcome.status is Status.TIME
    assert time.monotonic() - began < 4


def test_tools_that_wait_on_a_gpu_that_is_not_used_any_more_give_their_slots_back() -> None:
    """Slots are the machine's, and tools on another GPU need them."""
    device, other = PretendGpu(), replace(GPU, uuid=GPU.uuid[:-1] + "1")
    tools = Tools(find_toolchain(), device, shared_builds())
    with GpuBackend(replace(POOL, gpus=(GPU, other))).prestarted(tools) as backend:
        assert backend.gpus.prestarted is not None
        devices.mark_sick(backend.gpus.prestarted.gpu, "it fell off the bus")
        plan = pipeline.make_plan(ASSIGNMENT, 1, tools, visible_only=True, backend=backend)
        grade = pipeline.grade(plan, Submission("s", "matmul.cu", SOLUTION, "d"), tools)
    assert dict(grade.witnesses) == dict.fromkeys(TOOLS, "ok")
    assert runs(device) == sorted((tool, early) for tool in TOOLS for early in (False, True))


@pytest.mark.parametrize(("count", "early"), [(2, ()), (4, ("racecheck",)), (16, TOOLS)])
def test_tools_are_started_as_far_as_the_compiler_can_spare_processors(
    monkeypatch: pytest.MonkeyPatch, count: int, early: tuple[str, ...]
) -> None:
    """Otherwise a file that does not compile, or has a race, would wait for contexts that are not needed."""
    monkeypatch.setattr(processors, "available", lambda: count)
    device = PretendGpu()
    assert dict(checked(device, SOLUTION).witnesses) == dict.fromkeys(TOOLS, "ok")
    assert runs(device) == sorted((tool, tool in early) for tool in TOOLS)


def test_a_started_tool_gets_launches_once() -> None:
    """A second build of a file has a run of its own."""
    device = PretendGpu()
    tools = Tools(find_toolchain(), device, shared_builds())
    nothing = JobLaunches({}, [], ())
    with with_prestarted_tools(POOL, tools) as pool:
        assert pool.prestarted is not None
        assert pool.prestarted.result("memcheck", nothing) is not None
        assert pool.prestarted.result("memcheck", nothing) is None


def test_the_harness_takes_launches_from_an_archive_that_comes_later(tmp_path: Path) -> None:
    """With the files that they name."""
    job = HarnessJob(tmp_path, IMAGE, mode="concurrent", variables_in_module=False).case("copies")
    job.write()
    request = json.loads((tmp_path / "request.json").read_text(encoding="utf-8"))
    archive = tmp_path / "racecheck.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("launches.json", json.dumps([request["kernels"], request["cases"]]))
        for name in ("in/0-A.npy", "in/0-C.npy"):
            file.write(tmp_path / name, name)
            (tmp_path / name).unlink()
    job.cases, job.awaits = [], str(archive)
    answered = run(job)
    assert answered.states == ["done"]
    assert np.load(tmp_path / "in/0-A.npy").size


def test_the_harness_waits_for_launches_only_so_long(tmp_path: Path) -> None:
    """The process that started it may be gone."""
    job = HarnessJob(tmp_path, IMAGE, mode="concurrent", awaits=str(tmp_path / "never.zip"))
    job.seconds["await"] = 0.1
    answered = run(job)
    assert answered.states == []
    assert answered.content["error"] == (
        "TimeoutError: the launches that the harness was started for never came"
    )
