"""Finding the GPUs, choosing those that may be used, and marking a sick one."""

from __future__ import annotations

import fcntl
import sys
import threading
from contextlib import ExitStack
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from grader.base.errors import OurError, StorageError
from grader.classroom.batch import at_once
from grader.running.backends.emulator import EmulatorBackend
from grader.running.backends.gpu import GpuBackend
from grader.toolchain.gpu import devices
from grader.toolchain.gpu.pool import GpuPool
from tests.toolchain.gpu.pretend import GPU

if TYPE_CHECKING:
    from pathlib import Path

OTHER = replace(GPU, uuid="GPU-11111111-0000-4000-8000-000000000000", capability=(7, 5))


class NvmlError(Exception):
    """An error that the library raises."""


def _library(**changes: Any) -> SimpleNamespace:  # noqa: ANN401 - functions
    """As much of `pynvml` as we call, for a machine with two GPUs."""
    return SimpleNamespace(
        **{
            "NVMLError": NvmlError,
            "nvmlInit": lambda: None,
            "nvmlShutdown": lambda: None,
            "nvmlDeviceGetCount": lambda: 2,
            "nvmlDeviceGetHandleByIndex": lambda index: (GPU, OTHER)[index],
            "nvmlSystemGetCudaDriverVersion_v2": lambda: 13000,
            "nvmlSystemGetDriverVersion": lambda: b"580.00",
            "nvmlDeviceGetCudaComputeCapability": lambda handle: handle.capability,
            "nvmlDeviceGetUUID": lambda handle: handle.uuid,
            "nvmlDeviceGetName": lambda handle: handle.name.encode(),
            "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(total=handle.memory_bytes),
        }
        | changes
    )


def _fails(*_: object) -> None:
    raise NvmlError("the driver is gone")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's folder for locks, for this test only."""
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))
    return tmp_path


def _with(monkeypatch: pytest.MonkeyPatch, library: SimpleNamespace) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", library)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: object())


def test_the_driver_s_gpus_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names may come as bytes; the architecture is what ptxas calls it."""
    _with(monkeypatch, _library())
    assert devices.find_gpus() == (GPU, OTHER)
    assert [gpu.architecture for gpu in devices.find_gpus()] == ["sm_90", "sm_75"]


def test_without_a_driver_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """No message: most machines that grade have none."""
    _with(monkeypatch, _library(nvmlInit=_fails))
    assert devices.find_gpus() == ()


def test_without_the_library_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """And both missing packages are named for whoever asks for a GPU."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert devices.find_gpus() == ()
    assert devices.missing_libraries() == ("cupy-cuda13x", "nvidia-ml-py")


def test_a_driver_that_does_not_answer_is_our_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It began to answer and then failed."""
    _with(monkeypatch, _library(nvmlDeviceGetCount=_fails))
    with pytest.raises(OurError, match="the NVIDIA driver does not answer: the driver is gone"):
        devices.find_gpus()


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        (None, (GPU, OTHER)),
        ("0", (GPU,)),
        ("1,0", (GPU, OTHER)),
        ("GPU-1111", (OTHER,)),
        ("", ()),
        ("-1", ()),
    ],
)
def test_the_environment_chooses(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, left: tuple[devices.Gpu, ...]
) -> None:
    """By number or by the beginning of a UUID, as for any CUDA program."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert devices.visible((GPU, OTHER)) == left


def test_a_sick_gpu_is_out_of_use_until_it_is_well() -> None:
    """For every process on the machine, and with the reason."""
    devices.mark_sick(GPU, "the probe did not end")
    assert (devices.healthy((GPU, OTHER)), devices.is_sick(GPU)) == ((OTHER,), "the probe did not end")
    devices.mark_well(GPU)
    devices.mark_well(GPU)
    assert devices.healthy((GPU, OTHER)) == (GPU, OTHER)


def test_the_lock_ends_with_who_holds_it() -> None:
    """It can be opened to read only, locked once, and locked again when its holder is gone."""
    path = devices.lock_file(GPU)
    with path.open("rb") as first, devices.lock_file(GPU).open("rb") as second:
        fcntl.flock(first, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError):
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        first.close()
        fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_gpu_has_a_limited_number_of_slots_for_each_kind_of_job() -> None:
    """A later job waits until a slot is free; other kinds of jobs have slots of their own."""
    waiting = threading.Event()

    def late() -> None:
        with devices.slot(GPU, devices.TOOLS):
            waiting.set()

    thread = threading.Thread(target=late)
    with ExitStack() as stack:
        for kind in (devices.HARNESS, *[devices.TOOLS] * devices.tools_at_once(GPU)):
            stack.enter_context(devices.slot(GPU, kind))
        thread.start()
        assert not waiting.wait(0.2)
    thread.join(10)
    assert waiting.is_set()


def test_a_small_gpu_has_fewer_tools_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of a kind for each two processors and each two GiB, and two of them always."""
    monkeypatch.setattr("grader.base.processors.available", lambda: 64)
    gpus = [replace(GPU, memory_bytes=gigabytes << 30) for gigabytes in (2, 8, 80)]
    assert list(map(devices.tools_at_once, gpus)) == [2, 4, 8]


@pytest.mark.parametrize("kind", [devices.TOOLS, devices.SHARED])
def test_who_is_alone_on_a_gpu_waits_for_the_tools_and_the_timing(kind: str) -> None:
    """And keeps both away."""
    entered = threading.Event()

    def alone() -> None:
        with devices.alone(GPU):
            entered.set()

    thread = threading.Thread(target=alone)
    with devices.slot(GPU, kind):
        thread.start()
        assert not entered.wait(0.2)
    assert entered.wait(10)
    thread.join(10)


def test_a_lock_that_cannot_be_made_is_our_error(folder: Path) -> None:
    """The message names the file."""
    (folder / f"cuda-grader-{GPU.uuid}.lock").symlink_to("nowhere/at/all")
    with pytest.raises(StorageError, match="the GPU's lock cannot be opened"):
        devices.lock_file(GPU)


@pytest.mark.parametrize(("cores", "gpus", "expected"), [(8, 1, 12), (32, 1, 32), (32, 2, 48), (8, 0, 8)])
def test_enough_submissions_are_under_way_to_keep_every_gpu_busy(
    monkeypatch: pytest.MonkeyPatch, cores: int, gpus: int, expected: int
) -> None:
    """More than its queues can use would only wait for each other."""
    monkeypatch.setattr("grader.base.processors.available", lambda: cores)
    backend = GpuBackend(GpuPool((GPU,) * gpus, "python3", ())) if gpus else EmulatorBackend()
    assert at_once(backend) == expected
