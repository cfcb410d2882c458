"""The emulated device answers as a GPU does, call by call: codes, data, what is printed, how programs end."""

from __future__ import annotations

import re
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.kinds.host_runs.on_emulator import EmulatedDevice
from grader.model import ProgramInterface, Submission
from grader.running.device.service import serve
from grader.toolchain.gpu import devices
from grader.toolchain.nvcc import build_program
from grader.toolchain.sandbox import Job, Limits, LocalSandbox, Stage
from grader.toolchain.sandbox.channel import channel

if TYPE_CHECKING:
    from grader.model import Build
    from grader.toolchain.nvcc import Tools

SOURCE = Path(__file__).with_name("answers.cu")
CASES = re.findall(r"^CASE\((\w+)\)", SOURCE.read_text(encoding="utf-8"), re.MULTILINE)
SILENT = ("exits", "aborts", "printed_and_lost", "printed_at_the_end")
LIMITS = Limits(wall_seconds=60.0, cpu_seconds=60)


def _built(tools: Tools, architecture: str = "") -> Build:
    submission = Submission("answers", SOURCE.name, SOURCE.read_bytes(), "0" * 8)
    built = build_program(tools, submission, ProgramInterface(), architecture)
    assert built.ok, built.log
    return built


@pytest.fixture(scope="module")
def emulated(own_tools: Tools) -> Build:
    """The program, linked with the stand-in."""
    return _built(own_tools)


def on_emulator(built: Build, case: str) -> tuple[str, int]:
    """The output of a case on the emulator, and its exit code."""
    device = EmulatedDevice(built, SOURCE.name, SOURCE.read_text(encoding="utf-8"), 2**29, 10**6)
    files = (("program", built.program),)
    with (
        channel() as folder,
        LocalSandbox().stage(Stage(LIMITS, channel=str(folder))) as sandbox,
        serve(device.device, folder, 60.0) as served,
    ):
        result = sandbox.run(Job(("./program", case), files, (), LIMITS, environment=served.environment))
    return result.outcome.stdout.decode(), result.outcome.returncode


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_every_case_runs_on_the_emulator(emulated: Build, case: str) -> None:
    """Each asks at least something, and nothing of it is unsupported."""
    printed, _ = on_emulator(emulated, case)
    assert bool(printed) is (case not in SILENT)


@pytest.mark.gpu
def test_a_gpu_answers_the_same(own_tools: Tools, emulated: Build) -> None:
    """All cases in one program, each in a process of its own; every difference is listed."""
    (gpu, *_) = devices.visible(devices.find_gpus())
    built = _built(own_tools, gpu.architecture)
    limits = Limits(wall_seconds=60.0, cpu_seconds=60, memory_bytes=0)
    differences: list[str] = []
    with LocalSandbox().stage(Stage(limits, gpu.uuid)) as sandbox:
        for case in CASES:
            job = Job(("./program", case), (("program", built.program),), (), limits, gpu=gpu.uuid)
            outcome = sandbox.run(job).outcome
            real = [*outcome.stdout.decode().splitlines(), f"ends with {outcome.returncode}"]
            printed, code = on_emulator(emulated, case)
            ours = [*printed.splitlines(), f"ends with {code}"]
            differences += unified_diff(real, ours, f"{case} on the GPU", "on the emulator", lineterm="", n=1)
    if differences:
        pytest.fail("\n".join(differences), pytrace=False)
