"""A GPU on trial, before a batch and in `doctor`: a tool that sees nothing passes no one by its silence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.cli import setup
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import devices, trial
from grader.toolchain.gpu.pool import GpuPool
from grader.toolchain.gpu.sanitizer import TOOLS, files
from grader.toolchain.nvcc import Tools, find_toolchain
from tests.toolchain.gpu.captured import CAPTURES
from tests.toolchain.gpu.pretend import GPU, Arrays, Case, PretendGpu

if TYPE_CHECKING:
    from pathlib import Path

    from grader.toolchain.sandbox import Job, Result

SAME = replace(GPU, uuid="GPU-22222222-0000-4000-8000-000000000000")
OTHER = replace(GPU, uuid="GPU-11111111-0000-4000-8000-000000000000", name="Another GPU")
POOL = GpuPool((GPU,), "python3", (("sm_90", b"helpers"),), "compute-sanitizer")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cubin of the planted bugs."""
    return tmp_path_factory.mktemp("cubins")


@pytest.fixture(autouse=True)
def _locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))


def reverses(_case: Case, arrays: Arrays) -> Case:
    """Do what the kernel without a bug does."""
    arrays["out"][:] = arrays["in"][::-1]
    return {"state": "done", "seconds": 1e-5}


def planted(kind: str, left: dict[str, bytes]) -> dict[str, bytes]:
    """Return each tool's files about its planted bug, under the name that our own code is built under."""
    if kind == "run":
        return left
    captured = {name: (CAPTURES / f"planted-{name}").read_bytes() for name in files(kind)}
    return left | {name: text.replace(b"student_source.cu", b"own.cu") for name, text in captured.items()}


def _faults(device: PretendGpu, cache: Path) -> tuple[str, ...]:
    return trial.faults(POOL, Tools(find_toolchain(), device, cache), GPU)


def test_a_device_on_which_every_tool_finds_its_bug_is_fit(cache: Path) -> None:
    """And one that was taken out of use is taken back."""
    devices.mark_sick(GPU, "it hung")
    tools = Tools(find_toolchain(), PretendGpu(reverses, forge=planted), cache)
    pool, problems = trial.examine(POOL, tools)
    assert (pool.gpus, problems, devices.is_sick(GPU)) == ((GPU,), (), "")


@pytest.mark.parametrize("blind", TOOLS)
def test_a_tool_that_finds_nothing_is_named_with_the_line_it_missed(blind: str, cache: Path) -> None:
    """The fault names the tool and its planted bug, although the other tools find theirs."""

    def forge(kind: str, left: dict[str, bytes]) -> dict[str, bytes]:
        return left if kind == blind else planted(kind, left)

    (fault,) = _faults(PretendGpu(reverses, forge=forge), cache)
    assert f"{blind} did not find the planted" in fault
    assert trial.NAME in fault


def test_a_device_that_computes_wrongly_is_not_fit(cache: Path) -> None:
    """Only that is reported, regardless of what the tools find there."""
    device = PretendGpu(lambda _case, _arrays: {"state": "done"})
    assert _faults(device, cache) == ("the GPU ran a simple kernel and its result is wrong",)


def test_gpus_are_tried_side_by_side_and_each_is_named(cache: Path) -> None:
    """One that computes wrongly is left out, and the other stays."""
    devices_of = {GPU.uuid: PretendGpu(reverses, forge=planted)}
    devices_of[OTHER.uuid] = PretendGpu(lambda _case, _arrays: {"state": "done"}, forge=planted)

    class Both(PretendGpu):
        def run(self, job: Job) -> Result:
            return devices_of[job.gpu].run(job) if job.gpu else super().run(job)

    pool = replace(POOL, gpus=(GPU, OTHER))
    fit, problems = trial.examine(pool, Tools(find_toolchain(), Both(), cache))
    assert fit.gpus == (GPU,)
    assert problems == ("Another GPU: the GPU ran a simple kernel and its result is wrong",)


class OfOneModel(PretendGpu):
    """Two GPUs of a model; the tools of those named ``blind`` see nothing."""

    blind: tuple[str, ...] = ()

    def run(self, job: Job) -> Result:
        """As on any other."""
        self.forge = planted if job.gpu not in self.blind else (lambda _kind, left: left)
        return super().run(job)


def test_tools_are_tried_on_one_gpu_of_a_model(cache: Path) -> None:
    """A kernel runs on each: what makes a tool blind is the machine's, and contexts are slow to make."""
    device = OfOneModel(reverses)
    fit, problems = trial.examine(replace(POOL, gpus=(GPU, SAME)), Tools(find_toolchain(), device, cache))
    assert (fit.gpus, problems) == ((GPU, SAME), ())
    jobs = {gpu.uuid: [job for job in device.jobs if job.gpu == gpu.uuid] for gpu in (GPU, SAME)}
    assert [len(jobs[gpu.uuid]) for gpu in (GPU, SAME)] == [1 + len(TOOLS), 1]


def test_a_doctor_tries_the_tools_on_each_gpu(cache: Path) -> None:
    """A user who asks what this machine can do has time for it."""
    device = OfOneModel(reverses)
    pool = replace(POOL, gpus=(GPU, SAME))
    trial.examine(pool, Tools(find_toolchain(), device, cache), tools_on_each=True)
    assert len(device.jobs) == 2 * (1 + len(TOOLS))


def test_the_second_gpu_of_a_model_is_tried_where_tools_failed_on_the_first(cache: Path) -> None:
    """It may be the first one alone that is not as it should be; or both, and then none is used."""
    tools = Tools(find_toolchain(), OfOneModel(reverses), cache)
    tools.sandbox.blind = (GPU.uuid,)  # type: ignore[attr-defined]
    pool = replace(POOL, gpus=(GPU, SAME))
    assert trial.examine(pool, tools)[0].gpus == (SAME,)
    tools.sandbox.blind = (GPU.uuid, SAME.uuid)  # type: ignore[attr-defined]
    fit, problems = trial.examine(pool, tools)
    assert fit.gpus == ()
    assert len(problems) == 2 * len(TOOLS)


@pytest.mark.parametrize(
    ("device", "reason"),
    [
        (PretendGpu(reverses, health="sick: no answer"), "sick: no answer"),
        (
            PretendGpu(lambda _c, _a: {"state": "fault", "error": "cudaErrorX", "message": "?"}),
            "fault cudaErrorX",
        ),
    ],
)
def test_a_device_that_does_not_run_a_kernel_is_not_fit(device: PretendGpu, reason: str, cache: Path) -> None:
    """The fault contains the device's answer."""
    (fault,) = _faults(device, cache)
    assert reason in fault


def test_a_batch_stops_where_no_gpu_can_be_trusted(cache: Path) -> None:
    """With our error: else everybody would pass."""
    tools = Tools(find_toolchain(), PretendGpu(reverses), cache)
    with pytest.raises(OurError, match=r"no GPU here can be trusted with grades: .*did not find the planted"):
        setup.on_trial(GpuBackend(POOL), tools, cache / "stop")


def test_a_batch_goes_on_with_the_gpus_that_are_fit(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The other one is named."""

    class OneIsBlind(PretendGpu):
        """Its tools see on one of its GPUs only."""

        def run(self, job: Job) -> Result:
            """As on any other."""
            self.forge = planted if job.gpu == GPU.uuid else (lambda _kind, left: left)
            return super().run(job)

    tools = Tools(find_toolchain(), OneIsBlind(reverses), cache)
    backend = setup.on_trial(GpuBackend(replace(POOL, gpus=(GPU, OTHER))), tools, cache / "stop")
    assert backend.pool is not None
    assert backend.pool.gpus == (GPU,)
    assert "not used: Another GPU" in capsys.readouterr().err.replace("\n", " ")
