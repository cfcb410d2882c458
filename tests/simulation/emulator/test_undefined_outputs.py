"""The elements of an output that a race, or a value that no thread set, can reach."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from grader.model import Argument, Build, FindingKind, Launch
from grader.running.backends.emulated_kernel import EmulatedKernel
from tests.simulation.emulator import nvcc

if TYPE_CHECKING:
    from numpy.typing import NDArray

THREADS = 128

SOME = {
    "a_neighbour_is_read_too_early": (
        "s[t] = in[t];\nout[t] = s[(t + 1) % 128];",
        range(128),
    ),
    "only_the_first_half_reads_the_race": (
        "s[t] = in[t];\nint x = t < 64 ? s[t + 64] : in[t];\nout[t] = x;",
        range(64),
    ),
    "one_element_races_in_the_output_itself": (
        "out[t] = in[t];\nif (t == 77) out[3] = 7;",
        [3],
    ),
    "one_byte_of_the_shared_array_races": (
        "s[t] = in[t];\n__syncthreads();\nif (t == 0) s[5] = 1;\nout[t] = s[t] + in[t];",
        [5],
    ),
    "it_goes_on_through_shared_memory": (
        "s[t] = in[t];\nu[t] = t < 32 ? s[t + 64] : 0;\n__syncthreads();\nout[t] = u[127 - t];",
        range(96, 128),
    ),
    "it_goes_on_through_the_output": (
        "s[t] = in[t];\nout[t] = t == 0 ? s[64] : 1;\n__syncthreads();\nif (t == 100) out[t] = out[0] + 1;",
        [0, 100],
    ),
    "it_goes_on_through_a_shuffle": (
        "s[t] = in[t];\nint x = t == 0 ? s[64] : 1;\nx = __shfl_sync(~0u, x, 0);\nout[t] = x;",
        range(32),
    ),
    "it_is_overwritten_with_something_defined": (
        "s[t] = in[t];\nout[t] = s[(t + 64) % 128];\n__syncthreads();\nif (t < 100) out[t] = t;",
        range(100, 128),
    ),
    "nobody_reads_the_race": ("s[0] = t;\nout[t] = in[t];", []),
    "it_is_read_and_thrown_away": (
        "s[0] = t;\n__syncthreads();\nint x = s[0];\nout[t] = t < 200 ? in[t] : x;",
        [],
    ),
    "a_value_that_nobody_set": (
        "if (t < 32) s[t] = in[t];\n__syncthreads();\nout[t] = s[t];",
        range(32, 128),
    ),
    "a_value_from_behind_all_arrays": (
        "s[t] = in[t];\n__syncthreads();\nout[t] = s[t < 3 ? t + 1024 : t];",
        range(3),
    ),
    "a_value_from_behind_the_input": ("out[t] = in[t + 8];", range(120, 128)),
}
"""Kernels with the elements that are undefined."""

NOTHING_IS_DEFINED = {
    "it_decides_a_branch": "s[t] = in[t];\nif (s[(t + 64) % 128] > 3) out[t] = 1; else out[t] = 2;",
    "it_is_an_index": "s[t] = t;\nout[s[(t + 64) % 128] & 127] = t;",
    "it_is_added_atomically": "s[t] = in[t];\natomicAdd(&out[0], s[(t + 64) % 128]);",
    "a_plain_store_meets_atomics": (
        "if (t == 0) s[0] = 0;\natomicAdd(&s[0], 1);\n__syncthreads();\nout[t] = s[0];"
    ),
}

HEAD = "__shared__ int s[128], u[128];\nint t = threadIdx.x;"

SOURCE = "".join(
    f'extern "C" __global__ void {name}(const int* in, int* out) {{\n{HEAD}\n{body}\n}}\n'
    for name, body in {**{name: body for name, (body, _) in SOME.items()}, **NOTHING_IS_DEFINED}.items()
)


@pytest.fixture(scope="module")
def built() -> Build:
    """All kernels, in both builds."""
    default, hazards = nvcc.ptx(SOURCE, ("-lineinfo",)), nvcc.ptx(SOURCE)
    return Build(ok=True, ptx=default, hazard_ptx=hazards, source_name="kernel.cu")


def arguments() -> tuple[Argument, ...]:
    """Arrays for as many threads."""
    return (
        Argument("in", "in", np.arange(THREADS, dtype=np.int32)),
        Argument("out", "inout", np.zeros(THREADS, np.int32)),
    )


def line_of(name: str) -> int:
    """The first line of a kernel's body."""
    before, _, _ = SOURCE.partition(f" void {name}(")
    return before.count("\n") + 1 + 1 + HEAD.count("\n") + 1


def undefined(built: Build, name: str, blocks: int = 1) -> NDArray[np.bool_] | None:
    """The mask of the only output, by the findings of a kernel that is run as graded."""
    launch = Launch((blocks, 1, 1), (THREADS, 1, 1))
    kernel = EmulatedKernel(replace(built, entry=name), "kernel.cu", "kernel.cu")
    run = kernel.launch(launch, arguments())
    assert run.completed
    races = [finding for finding in run.findings if finding.kind is FindingKind.RACE]
    lines = {line or 0 for finding in races for line in (finding.line, finding.other_line)}
    masks = kernel.undefined(launch, arguments(), lines)
    return None if masks is None else dict(masks)["out"]


@pytest.mark.parametrize("name", SOME)
def test_elements_are_undefined_that_a_race_or_an_unset_value_reaches(built: Build, name: str) -> None:
    """Those and no others: the rest is the same in every order of the threads."""
    mask = undefined(built, name)
    assert mask is not None
    assert np.flatnonzero(mask).tolist() == list(SOME[name][1])


@pytest.mark.parametrize("name", NOTHING_IS_DEFINED)
def test_nothing_is_defined_where_an_undefined_value_decides_what_threads_do(built: Build, name: str) -> None:
    """A branch, an address or an atomic operation may lead anywhere."""
    assert undefined(built, name) is None


def test_blocks_that_store_different_values_make_what_they_share_undefined(built: Build) -> None:
    """Of two blocks each stores every element, and both store another value into one of them."""
    mask = undefined(built, "one_element_races_in_the_output_itself", blocks=2)
    assert mask is not None
    assert mask[3]


def test_a_launch_that_takes_more_work_than_it_may_defines_nothing(built: Build) -> None:
    """The elements that the race reaches are unknown then."""
    kernel = EmulatedKernel(replace(built, entry="nobody_reads_the_race"), "kernel.cu", "kernel.cu")
    launch = Launch((1, 1, 1), (THREADS, 1, 1))
    assert kernel.undefined(launch, arguments(), {line_of("nobody_reads_the_race")}) is not None
    assert kernel.undefined(launch, arguments(), {line_of("nobody_reads_the_race")}, steps=3) is None


def test_a_race_on_lines_that_do_not_race_in_the_plain_build_defines_nothing(built: Build) -> None:
    """It is the optimiser's, and where it leads is unknown."""
    kernel = EmulatedKernel(replace(built, entry="nobody_reads_the_race"), "kernel.cu", "kernel.cu")
    assert kernel.undefined(Launch((1, 1, 1), (THREADS, 1, 1)), arguments(), {1}) is None
