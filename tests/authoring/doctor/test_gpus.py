"""Reports of `grader doctor` on GPUs: what is there, what does not fit together, and what to do about it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from grader.authoring.doctor import Mark, gpus
from grader.base.errors import ToolMissing, UsageError
from grader.cli import setup
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.toolchain.gpu.pretend import GPU

if TYPE_CHECKING:
    from pathlib import Path

    from grader.authoring.doctor import ReportLine

OLD_DRIVER = replace(GPU, driver="550.54", driver_cuda=(12, 4))
OLD_GPU = replace(GPU, capability=(7, 0))


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the machine that the tests run on: no GPU, no toolkit for containers, no sanitizer."""
    monkeypatch.setattr(devices, "_FOLDERS", (str(tmp_path),))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("GRADER_SANITIZER", "none")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def _has(monkeypatch: pytest.MonkeyPatch, *gpus: devices.Gpu, missing: tuple[str, ...] = ()) -> None:
    monkeypatch.setattr(devices, "find_gpus", lambda: gpus)
    monkeypatch.setattr(devices, "missing_libraries", lambda: missing)


def _examined() -> list[ReportLine]:
    return list(gpus.examine(Tools(find_toolchain(), LocalSandbox(), None)))


def test_without_a_gpu_there_is_one_line_and_nothing_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most machines that grade have none."""
    _has(monkeypatch)
    (line,) = _examined()
    assert (line.mark, line.state) == (Mark.NONE, "none found; the emulator grades everything but speed")


def test_without_the_library_it_suggests_how_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is then unknown whether there is a GPU."""
    _has(monkeypatch, missing=("cupy-cuda13x", "nvidia-ml-py"))
    (line,) = _examined()
    assert (line.mark, line.fix) == (Mark.UNKNOWN, devices.HOW_TO_GET_CUPY)


def test_a_gpu_is_described_and_what_is_missing_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulator grades without it."""
    _has(monkeypatch, GPU, missing=("cupy-cuda13x",))
    gpu, cupy = _examined()
    assert gpu.state == "Pretended GPU, 16 GiB, compute capability 9.0, driver 580.00 (CUDA 13.0)"
    assert gpu.mark is Mark.OK
    assert (cupy.mark, cupy.stops, cupy.subject) == (Mark.PROBLEM, False, "cupy")


@pytest.mark.parametrize(
    ("gpu", "why"),
    [
        (OLD_DRIVER, "its driver 550.54 is for CUDA 12.4; CUDA 13 needs driver 580 or newer"),
        (OLD_GPU, "CUDA 13 does not compile for compute capabilities below 7.5; use another GPU"),
    ],
)
def test_what_does_not_fit_together_is_reported_and_not_tried(
    monkeypatch: pytest.MonkeyPatch, gpu: devices.Gpu, why: str
) -> None:
    """`auto` then grades on the emulator and states why; a user who asked for the GPU gets the reason."""
    _has(monkeypatch, gpu)
    about, *_ = _examined()
    assert (about.mark, about.fix) == (Mark.PROBLEM, why)
    assert about.state.endswith("cannot be used")
    auto, asked = SimpleNamespace(backend="auto"), SimpleNamespace(backend="gpu")
    assert setup.gpus(auto) == ()  # type: ignore[arg-type]
    with pytest.raises(ToolMissing, match=why.split(";", maxsplit=1)[0]):
        setup.gpus(asked)  # type: ignore[arg-type]


def test_a_gpu_that_is_out_of_use_is_reported_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a trial takes it back."""
    _has(monkeypatch, GPU, missing=("cupy-cuda13x",))
    devices.mark_sick(GPU, "the probe did not end")
    about, *_ = _examined()
    assert about.mark is Mark.UNKNOWN
    assert about.state.endswith("; out of use until a trial ends well: the probe did not end")


@pytest.mark.parametrize(
    ("version", "fine", "message"),
    [
        ("NVIDIA Container Toolkit CLI version 1.17.7", False, "CVE-2025-23266"),
        ("NVIDIA Container Toolkit CLI version 1.17.8", True, "NVIDIA Container Toolkit 1.17.8"),
        ("NVIDIA Container Toolkit CLI version 1.18.0", True, "NVIDIA Container Toolkit 1.18.0"),
        ("no idea", False, "does not say its version"),
    ],
)
def test_a_container_toolkit_with_a_known_escape_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, *, fine: bool, message: str
) -> None:
    """By the first version that has it mended."""
    _has(monkeypatch, GPU, missing=("cupy-cuda13x",))
    program = tmp_path / "nvidia-ctk"
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    (line,) = [line for line in _examined() if line.subject == "containers"]
    assert (line.mark is Mark.OK) is fine
    assert message in line.state


@pytest.mark.parametrize(
    ("script", "mark", "message"),
    [
        ("echo Version 2025.3.1", Mark.OK, "compute-sanitizer 2025.3.1 at"),
        ("exit 7", Mark.PROBLEM, "version"),
    ],
)
def test_a_tool_that_does_not_start_is_not_called_well(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, mark: Mark, message: str
) -> None:
    """A program whose file exists may still fail to start."""
    program = tmp_path / "compute-sanitizer"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("GRADER_SANITIZER", str(program))
    _has(monkeypatch, OLD_GPU)
    (line,) = [line for line in _examined() if line.subject == "sanitizer"]
    assert line.mark is mark
    assert message in line.state


def test_a_request_for_a_gpu_where_there_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong usage, with a next step; `auto` just uses the emulator."""
    _has(monkeypatch)
    with pytest.raises(
        UsageError, match="no NVIDIA GPU was found here; `grader doctor` says what is missing"
    ):
        setup.gpus(SimpleNamespace(backend="gpu"))  # type: ignore[arg-type]
    assert setup.gpus(SimpleNamespace(backend="auto")) == ()  # type: ignore[arg-type]
