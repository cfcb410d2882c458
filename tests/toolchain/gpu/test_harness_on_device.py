"""The harness and its processes on a real device, with small kernels that do one thing each."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.toolchain.gpu import speedup_statistics
from grader.toolchain.gpu.answer import read_answer
from tests.simulation.emulator.nvcc import compiler, ptx
from tests.toolchain.gpu.harness_jobs import POISON, Answered, HarnessJob, N

HERE = Path(__file__).parent
SANDBOX = HERE.parents[2] / "sandbox" / "gpu_harness"
SECONDS = {"case": 2.0, "after_timeout": 1.0, "probe": 30.0, "total": 60.0}
UNTOUCHED = np.full(N, POISON)

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the kernels and the helpers, compiled for the device at hand."""
    folder = tmp_path_factory.mktemp("images")
    asked = "from device import Device; print(*Device().properties()['compute_capability'], sep='')"
    capability = subprocess.run(
        [sys.executable, "-c", asked], cwd=SANDBOX, capture_output=True, text=True, check=True, timeout=120
    ).stdout.strip()
    ptxas = str(Path(compiler()).with_name("ptxas"))
    for source, image in ((HERE / "harness_kernels.cu", "student"), (SANDBOX / "helpers.cu", "helpers")):
        text = folder / f"{image}.ptx"
        text.write_text(ptx(source.read_text(), ("-arch=compute_75",), source.name))
        command = [ptxas, f"-arch=sm_{capability}", "-o", str(folder / f"{image}.cubin"), str(text)]
        subprocess.run(command, check=True, timeout=120)
    return folder


def launched(job: HarnessJob, images: Path) -> tuple[Answered, str]:
    """Return the harness's answer from a process of its own, and what that process printed."""
    for file in (*SANDBOX.glob("*.py"), Path(speedup_statistics.__file__), *images.glob("*.cubin")):
        shutil.copy(file, job.folder)
    done = subprocess.run(
        [sys.executable, "harness.py", job.write()],
        cwd=job.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    read_answer((job.folder / "result.json").read_bytes())
    return job.answer(), done.stdout


CASES = {
    "copies": ("done", ""),
    "reads_far_away": ("fault", "cudaErrorIllegalAddress"),
    "writes_beyond": ("done", ""),
    "writes_before": ("done", ""),
    "changes_its_input": ("done", ""),
    "traps": ("fault", "cudaErrorLaunchFailure"),
    "reads_beyond": ("done", ""),
    "prints": ("done", ""),
    "hangs": ("timeout", ""),
    "says_where": ("done", ""),
    "writes_far_away": ("fault", "cudaErrorIllegalAddress"),
    "takes_wide": ("done", ""),
    "is_misaligned": ("fault", "cudaErrorMisalignedAddress"),
    "counts": ("done", ""),
    "hangs_at_a_barrier_of_its_own": ("timeout", ""),
}
"""Kernels in the order of their cases, with the state and the error of each."""

LAUNCHES: dict[str, tuple[dict[str, Any], str]] = {
    "too many threads": ({"block": [64, 32, 1]}, "refused"),
    "too much shared memory": ({"shared": 300 * 1024}, "refused"),
    "shared memory that a host program must ask for": ({"shared": 60 * 1024}, "done"),
    "no blocks": ({"grid": [0, 1, 1]}, "refused"),
    "once more": ({}, "done"),
}
"""JobLaunches of `copies` after those, by what is special in them, with their state."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, images: Path) -> tuple[Answered, str]:
    """All cases, in one job: what one does must not show in the next."""
    job = HarnessJob(tmp_path_factory.mktemp("job"), b"", seconds=SECONDS)
    for name in CASES:
        at = str(len(job.cases))
        arguments = [
            job.array("A", "in", np.arange(N, dtype=np.float32), offset=1, case=at),
            job.array("C", "out", UNTOUCHED, offset=5, case=at),
            job.value("N", "int32", -5 if name == "takes_wide" else N),
        ]
        widths = {"widths": {"N": "int64"}} if name == "takes_wide" else {}
        job.case(name, *arguments, block=[1, 1, 1], **widths)
    for more, _ in LAUNCHES.values():
        job.case("copies", **({"grid": [2, 1, 1], "block": [256, 1, 1]} | more))
    return launched(job, images)


def at(name: str) -> int:
    """The number of a case."""
    return [*CASES, *LAUNCHES].index(name)


@pytest.mark.parametrize("name", CASES)
def test_every_kernel_ends_in_its_state(ran: tuple[Answered, str], name: str) -> None:
    """A failure that ends one kernel does not affect another."""
    case = ran[0].case(at(name))
    assert (case["state"], case.get("error", "")) == CASES[name], case


@pytest.mark.parametrize("name", LAUNCHES)
def test_every_launch_is_taken_or_refused(ran: tuple[Answered, str], name: str) -> None:
    """A host program could launch as much as we do, and no more."""
    case = ran[0].case(at(name))
    assert case["state"] == LAUNCHES[name][1], case
    assert bool(case.get("error")) == (case["state"] == "refused")


def test_the_device_is_well_after_all_that(ran: tuple[Answered, str]) -> None:
    """The answer also describes the device."""
    content = ran[0].content
    assert (content["health"], content["error"]) == ("ok", "")
    device = content["device"]
    assert device["uuid"].startswith("GPU-")
    assert device["compute_capability"][0] >= 7
    assert min(device[key] for key in ("multiprocessors", "l2_bytes", "memory_bytes", "driver_cuda")) > 0


def test_outputs_are_what_the_kernels_wrote(ran: tuple[Answered, str]) -> None:
    """The rest of the array is the poison that it held before."""
    answered, _ = ran
    np.testing.assert_array_equal(answered.output(at("once more"), "C"), np.arange(N, dtype=np.float32))
    first = answered.output(at("copies"), "C")
    np.testing.assert_array_equal(first[:1], [0.0])
    words = answered.output(at("prints"), "C").view(np.uint32)
    np.testing.assert_array_equal(words, UNTOUCHED.view(np.uint32))


def test_writes_outside_of_arrays_are_reported(ran: tuple[Answered, str]) -> None:
    """By element, and only of the kernels that did it."""
    outside = {name: ran[0].case(at(name)).get("outside", []) for name in CASES}
    assert outside["writes_beyond"] == [{"array": "C", "element": N + 2, "count": 2}]
    assert outside["writes_before"] == [{"array": "C", "element": -2, "count": 2}]
    assert {name for name, found in outside.items() if found} == {"writes_beyond", "writes_before"}


def test_a_read_outside_gives_a_nan(ran: tuple[Answered, str]) -> None:
    """So a result that depends on it is wrong."""
    assert np.isnan(ran[0].output(at("reads_beyond"), "C")[0])


def test_a_changed_input_is_named(ran: tuple[Answered, str]) -> None:
    """And no other."""
    changed = {name: ran[0].case(at(name)).get("changed", []) for name in CASES}
    assert changed["changes_its_input"] == ["A"]
    assert {name for name, found in changed.items() if found} == {"changes_its_input"}


def test_arrays_begin_where_they_were_asked_to(ran: tuple[Answered, str]) -> None:
    """One and five elements past a multiple of 256 bytes, as the kernel itself sees it."""
    np.testing.assert_array_equal(ran[0].output(at("says_where"), "C")[:2], [4.0, 20.0])


def test_a_scalar_is_taken_in_the_kernels_width(ran: tuple[Answered, str]) -> None:
    """The sign goes through all 64 bits."""
    assert ran[0].output(at("takes_wide"), "C")[0] == -5.0


def test_variables_of_the_module_start_anew(ran: tuple[Answered, str]) -> None:
    """The kernel was loaded several times before."""
    assert ran[0].output(at("counts"), "C")[0] == 1.0


def test_what_a_kernel_prints_goes_nowhere(ran: tuple[Answered, str]) -> None:
    """It could be a flood, and nothing reads it."""
    assert ran[1] == ""


def test_resources_are_those_of_the_first_launch(ran: tuple[Answered, str]) -> None:
    """A small kernel in a block of one thread: as many blocks as a multiprocessor can hold."""
    resources = ran[0].content["resources"]["student"]
    assert resources["registers"] > 0
    assert resources["max_threads"] == 1024
    assert resources["blocks_per_multiprocessor"] >= 16


def test_without_a_tool_a_dead_context_is_reported_for_the_remaining_cases(
    tmp_path: Path, images: Path
) -> None:
    """In the mode for tools there is no second process; what came before the fault stays known."""
    job = HarnessJob(tmp_path, b"", mode="sanitize", seconds=SECONDS)
    job.case("copies").case("reads_far_away").case("copies")
    answered, _ = launched(job, images)
    assert answered.states == ["done", "fault", "lost"]
    assert answered.case(1)["error"] == answered.case(2)["error"] == "cudaErrorIllegalAddress"


def test_a_struct_is_passed_with_its_pointers(tmp_path: Path, images: Path) -> None:
    """The driver copies the bytes of the struct as the kernel's PTX declares it."""
    job = HarnessJob(tmp_path, b"")
    job.case("copies_in_a_struct", *job.vectors())
    answered, _ = launched(job, images)
    assert answered.states == ["done"]
    np.testing.assert_array_equal(answered.output(0, "v.c"), np.arange(N, dtype=np.float32))


def test_variables_of_the_module_are_filled_and_read(tmp_path: Path, images: Path) -> None:
    """As `cudaMemcpyToSymbol` and `cudaMemcpyFromSymbol` do; the cubin has them as local symbols."""
    job = HarnessJob(tmp_path, b"", symbols={"A": "held_a", "C": "held_c"})
    job.case("copies_between_variables", *job.variables())
    answered, _ = launched(job, images)
    assert answered.states == ["done"]
    np.testing.assert_array_equal(answered.output(0, "C"), np.arange(N, dtype=np.float32))
