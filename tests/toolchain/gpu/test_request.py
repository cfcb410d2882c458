"""The job for the harness: all that it needs, and nothing that it must not know."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.model import Argument, Launch
from grader.toolchain.gpu.request import (
    SLOT_SECONDS,
    DeviceCase,
    Image,
    Where,
    has_variables,
    output_file,
    run_job,
    widths,
)

if TYPE_CHECKING:
    from grader.toolchain.sandbox import Job

WHERE = Where("python3", b"helpers", "GPU-1", "/run/lock/gpu.lock")
A = np.arange(6, dtype=np.float32).reshape(2, 3)
ARGUMENTS = (
    Argument("A", "in", A, offset=1),
    Argument("C", "out", np.full((2, 2), np.nan, np.float32)),
    Argument("N", "value", np.int32(3)),
)
CASES = (DeviceCase(4, Launch((1, 2, 1), (16, 16, 1), 128), ARGUMENTS),)
IMAGES = (("student", Image(b"cubin", "_Z1k", (("N", "int64"),))),)


def _request(job: Job) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(dict(job.files)["request.json"])
    return content


def test_a_case_carries_its_launch_and_its_arrays() -> None:
    """Arrays as files, scalars as numbers, with the width that this kernel takes them in."""
    job = run_job(WHERE, IMAGES, CASES)
    (case,) = _request(job)["cases"]
    assert (case["grid"], case["block"], case["shared"]) == ([1, 2, 1], [16, 16, 1], 128)
    assert (case["name"], case["widths"], case["entry"]) == ("4", {"N": "int64"}, None)
    array, output, scalar = case["arguments"]
    assert (array["offset"], output["direction"], scalar["value"]) == (1, "out", 3)
    assert np.array_equal(np.load(io.BytesIO(dict(job.files)[array["file"]])), A)


def test_the_job_holds_no_seed_and_nothing_expected() -> None:
    """The request names the launches, and neither the seed nor an expected result."""
    job = run_job(WHERE, IMAGES, CASES)
    names = {name for name, _ in job.files}
    assert {"harness.py", "speedup_statistics.py", "helpers.cubin", "student.cubin", "request.json"} <= names
    assert not [name for name in names if "oracle" in name or "yaml" in name]
    assert "seed" not in json.dumps(_request(job))


def test_only_outputs_come_back() -> None:
    """And the answer; inputs stay where they are."""
    assert run_job(WHERE, IMAGES, CASES).wanted == ("result.json", output_file(4, "C"))


def test_a_tool_goes_before_the_harness() -> None:
    """With its files wanted, each case under its own name, and the lock of those for whom it waits."""
    job = run_job(
        WHERE,
        IMAGES,
        CASES,
        mode="sanitize",
        entries=(("4", "grader_case_4"),),
        tool=("tool", "-x"),
        tool_files=("t.xml",),
    )
    assert job.argv == ("tool", "-x", "python3", "harness.py", "request.json")
    assert (job.wanted[-1], _request(job)["cases"][0]["entry"]) == ("t.xml", "grader_case_4")
    assert _request(job)["give_way"] == WHERE.lock


def test_the_harness_waits_for_a_slot_and_a_tool_does_not() -> None:
    """A tool's slot is held outside, by whoever starts it."""
    where = replace(WHERE, slots=("/run/lock/queue", "/run/lock/1"))
    job, under_tool = run_job(where, IMAGES, CASES), run_job(where, IMAGES, CASES, tool=("tool",))
    assert (job.locks, _request(job)["slots"]) == (where.slots, list(where.slots))
    assert (under_tool.locks, _request(under_tool)["slots"]) == ((where.lock,), [])


def test_only_a_harness_that_waits_for_a_slot_has_time_for_that() -> None:
    """One that has the GPU alone keeps all others waiting."""
    beside_others, alone = (
        run_job(replace(WHERE, lock="", slots=slots), IMAGES, CASES) for slots in (("/run/lock/queue",), ())
    )
    assert alone.limits.wall_seconds == beside_others.limits.wall_seconds - SLOT_SECONDS


def test_without_a_tool_the_lock_is_only_for_timing() -> None:
    """A job that times nothing keeps no other job waiting."""
    assert run_job(WHERE, IMAGES, CASES).locks == ()
    assert run_job(WHERE, IMAGES, CASES, ({}, (), ())).locks == ("/run/lock/gpu.lock",)


@pytest.mark.parametrize(
    ("taken", "expected"),
    [((8, 8, 4), ()), ((8, 8, 8), (("N", "int64"),)), ((8, 8, 2), (("N", "int16"),)), ((), ())],
)
def test_a_scalar_that_a_kernel_takes_otherwise_is_named(
    taken: tuple[int, ...], expected: tuple[tuple[str, str], ...]
) -> None:
    """A student's `size_t` stands for the assignment's int32."""
    assert widths(ARGUMENTS, taken) == expected


@pytest.mark.parametrize(
    ("declaration", "found"),
    [
        (".visible .global .align 4 .u32 launches;", True),
        (".global .align 4 .b8 memo[1024];", True),
        (".const .align 4 .b8 table[16];", True),
        (".entry k()\n{\n\t{ .global .u32 hidden; } }", True),
        (".shared .align 4 .b8 tile[1024];", False),
        (".entry k() { ld.global.f32 %f1, [%rd1]; }", False),
        (".entry k() { cvta.to.global.u64 %rd1, %rd2; }", False),
        ("/* .global .u32 mentioned; */", False),
    ],
)
def test_variables_of_a_module_are_seen_in_its_ptx(declaration: str, *, found: bool) -> None:
    """Wherever they are declared; shared memory is no such thing, nor are accesses."""
    assert has_variables(f".version 9.0\n{declaration}\n") is found
