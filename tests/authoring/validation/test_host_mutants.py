"""Mutants of programs: what is changed in how host code uses the device, and what is left alone."""

from __future__ import annotations

import pytest

from grader.authoring.validation.mutants import (
    BARRIER_KIND,
    interface_names,
    program_mutants,
    source_mutants,
)
from grader.authoring.validation.staff import read_staff
from grader.authoring.validation.trials import is_kernel
from grader.grading.assignment import bundled_ids
from tests.bundled import bundled

PROGRAM = b"""\
#include <cstdio>
#define THREADS 128
#define CHECK(call) if ((call) != cudaSuccess) return 1

__device__ float twice(float v) { return v * 2.0f; }
__global__ void k(const float* a, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = twice(a[i]);
}

int main() {
    int n = 100, one = 1;
    float host[100], *a, *out;
    for (int i = 0; i < n; ++i) host[i] = i + one;
    CHECK(cudaMalloc(&a, n * sizeof(float)));
    cudaMalloc(&out, sizeof(float) * n);
    cudaStream_t s;
    cudaStreamCreate(&s);
    for (int part = 0; part < 2; ++part)
        cudaMemcpyAsync(a + 50 * part, host + 50 * part, 50 * sizeof(float), cudaMemcpyHostToDevice, s);
    k<<<(n + THREADS - 1) / THREADS, THREADS, 0, s>>>(a, out, n);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) return 1;
    cudaStreamSynchronize(s);
    cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; ++i) std::printf("%g\\n", host[i]);
    cudaFree(a);
    CHECK(cudaStreamDestroy(s));
}
"""

MUTANTS = program_mutants(PROGRAM)


def _lines(kind: str) -> list[str]:
    """The lines that mutants of a kind put in."""
    diffs = [each.diff.split("\n")[3:] for each in MUTANTS if each.kind == kind]
    return [line[1:].strip() for diff in diffs for line in diff if line.startswith("+")]


UP = "cudaMemcpyAsync({}, {}, {}, cudaMemcpy{}, {});"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("elements-for-bytes", "CHECK(cudaMalloc(&a, (n * sizeof(float)) / 4));"),
        ("elements-for-bytes", "cudaMemcpy(host, out, (n * sizeof(float)) / 4, cudaMemcpyDeviceToHost);"),
        ("size-of-a-pointer", "cudaMalloc(&out, sizeof(void *));"),
        ("copy-removed", ";"),
        ("wait-removed", ";"),
        ("free-removed", ";"),
        ("launch-removed", ";"),
        ("status-ignored", "if (false) return 1;"),
        ("direction-changed", "cudaMemcpy(host, out, n * sizeof(float), cudaMemcpyHostToDevice);"),
        (
            "source-and-destination-exchanged",
            "cudaMemcpy(out, host, n * sizeof(float), cudaMemcpyDeviceToHost);",
        ),
        (
            "stream-left-out",
            UP.format("a + 50 * part", "host + 50 * part", "50 * sizeof(float)", "HostToDevice", "0"),
        ),
        ("stream-left-out", "k<<<(n + THREADS - 1) / THREADS, THREADS, 0, 0>>>(a, out, n);"),
        ("grid-and-block-exchanged", "k<<<THREADS, (n + THREADS - 1) / THREADS, 0, s>>>(a, out, n);"),
        ("arguments-exchanged", "k<<<(n + THREADS - 1) / THREADS, THREADS, 0, s>>>(out, a, n);"),
        ("division-rounded-down", "k<<<(n) / THREADS, THREADS, 0, s>>>(a, out, n);"),
        ("loop-bound-higher", "for (int part = 0; part < (2) + 1; ++part)"),
        ("guard-dropped", "if (true) out[i] = twice(a[i]);"),
        ("operator-changed", "__device__ float twice(float v) { return v + 2.0f; }"),
    ],
)
def test_one_thing_is_changed(kind: str, line: str) -> None:
    """The line of the mutant is as a student might have written it."""
    assert line in _lines(kind)


def test_what_the_host_computes_by_itself_is_left_alone() -> None:
    """Filling, printing and counting arrays says nothing of how the device is used."""
    alone = (
        "int n = 100",
        "float host[100]",
        "for (int i = 0; i < n; ++i)",
        "std::printf",
        "cudaStreamCreate",
    )
    changed = [line[1:] for each in MUTANTS for line in each.diff.split("\n")[3:] if line.startswith("-")]
    assert changed
    assert not [line for line in changed for text in alone if text in line]


def test_macros_that_check_a_call_stay_around_it() -> None:
    """Only what they are given changes, or the whole statement goes."""
    definition = b"#define CHECK(call) if ((call) != cudaSuccess) return 1\n"
    assert all(definition in each.source for each in MUTANTS)


def test_every_mutant_has_an_id_of_its_own() -> None:
    """Staff name them in equivalent.yaml."""
    assert len({each.id for each in MUTANTS}) == len(MUTANTS) > 30


@pytest.mark.parametrize("source", [b"", b"int main() { return 0; }\n", b"int main( { <<< cudaMalloc(\xff"])
def test_a_text_without_device_code_has_no_mutants(source: bytes) -> None:
    """Whatever is in it."""
    assert program_mutants(source) == ()


@pytest.mark.parametrize("name", bundled_ids())
def test_what_staff_explain_as_equivalent_is_a_mutant_of_their_solution(name: str) -> None:
    """An explanation whose mutant is gone is refused by `grader validate`, which takes minutes."""
    assignment = bundled(name)
    staff = read_staff(assignment)
    if is_kernel(assignment):
        mutants = source_mutants(staff.solution, *interface_names(assignment))
    else:
        mutants = program_mutants(staff.solution)
    explained = {each.mutant for each in staff.explained if not each.mutant.startswith(BARRIER_KIND)}
    assert explained <= {each.id for each in mutants}
