"""Functions that read results on the host, recorded for a GPU, with pointers to device and to host memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.base.errors import OurError
from grader.toolchain.gpu.replay import HOST, ArrayLocation, CopyStep, LaunchStep
from grader.toolchain.nvcc import Tools, find_toolchain
from grader.toolchain.sandbox import LocalSandbox
from tests.builds import shared_builds
from tests.kinds.test_timed_functions import KERNELS, recordings_of, written

if TYPE_CHECKING:
    from pathlib import Path

    from grader.toolchain.gpu.replay import Step

ON_HOST = {"pointers: device, outputs: poison": "pointers: host, outputs: poison"}
HALVES = """
__device__ int above;
__global__ void halve(float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && y[i] > 1) { y[i] /= 2; above = 1; }
}
extern "C" void scale(const float *x, float *y, int n) {
    int any = 1;
    cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice);
    while (any) {
        any = 0;
        cudaMemcpyToSymbol(above, &any, sizeof any);
        halve<<<(n + 255) / 256, 256>>>(y, n);
        cudaMemcpyFromSymbol(&any, above, sizeof any);
    }
    cudaMemset(y, 0, 4);
}
"""
"""It repeats a step until nothing is above 1 any more."""

STEPS_ON_HOST = """
extern "C" void scale(const float *x, float *y, int n) {
    float *dx, *dy;
    BEFORE
    cudaMalloc(&dx, n * sizeof(float));
    cudaMalloc(&dy, n * sizeof(float));
    cudaMemcpy(dx, FROM, n * sizeof(float), cudaMemcpyHostToDevice);
    product<<<(n + 127) / 128, 128>>>(dx, dy, 3, n);
    cudaMemcpy(y, dy, n * sizeof(float), cudaMemcpyDeviceToHost);
    AFTER
    cudaFree(dx), cudaFree(dy);
}
"""


@pytest.fixture(scope="module")
def tools() -> Tools:
    """The compiler and the local sandbox."""
    return Tools(find_toolchain(), LocalSandbox(), shared_builds())


def on_host(before: str = "", after: str = "", source: str = "x") -> str:
    """A function with host pointers that does something more before its copies or after them."""
    steps = STEPS_ON_HOST.replace("BEFORE", before).replace("AFTER", after).replace("FROM", source)
    return KERNELS + steps


def kinds(steps: tuple[Step, ...]) -> str:
    """A letter for each step."""
    return "".join(type(step).__name__[0] for step in steps)


def test_a_loop_until_something_has_converged_is_recorded_for_each_set(tmp_path: Path, tools: Tools) -> None:
    """With launches that are computed, so that it ends where it does on a device."""
    two, five = recordings_of(written(tmp_path), tools, HALVES, inputs=(2, 17))
    assert kinds(two.steps) == "C" + 2 * "CLC" + "F"
    assert kinds(five.steps) == "C" + 6 * "CLC" + "F"
    read = two.steps[3]
    assert isinstance(read, CopyStep)
    assert (read.to, read.size, two.host_bytes) == (ArrayLocation(HOST), 4, 4)


def test_what_differs_by_more_than_repetitions_is_not_timed(tmp_path: Path, tools: Tools) -> None:
    """A host that computes the result and sends it up would be timed without its work."""
    by_host = KERNELS + (
        'extern "C" void scale(const float *x, float *y, int n) {'
        " float first; cudaMemcpy(&first, x, 4, cudaMemcpyDeviceToHost); SENDS }\n"
    )
    sends = {
        "computes from the inputs": "first *= 3; cudaMemcpy(y, &first, 4, cudaMemcpyHostToDevice);",
        "decide about more": "product<<<1, 1>>>(x, y, first, n);",
    }
    for reason, calls in sends.items():
        with pytest.raises(OurError, match=reason):
            recordings_of(written(tmp_path / reason), tools, by_host.replace("SENDS", calls), inputs=(1, 2))


def test_what_takes_too_long_to_compute_is_not_timed(tmp_path: Path, tools: Tools) -> None:
    """The emulator has as long for it as for a case."""
    slow = HALVES.replace("y[i] /= 2;", "for (int k = 0; k < 1 << 30; k++) y[i] = y[i] / 2 + k;")
    assignment = written(tmp_path, **{"emulator_seconds: 5": "emulator_seconds: 1"})
    with pytest.raises(OurError, match="to compute that takes more than 1 s on the emulator"):
        recordings_of(assignment, tools, slow, inputs=(2, 3))


def test_a_read_behind_which_nothing_follows_is_computed_too(tmp_path: Path, tools: Tools) -> None:
    """With another result something might have followed."""
    looks = KERNELS + (
        'extern "C" void scale(const float *x, float *y, int n) { float first = 1;'
        " for (int i = 0; i < 3 && first; i++) {"
        " product<<<1, 1>>>(x, y, 3, n); cudaMemcpyFromSymbol(&first, factor, 4); } }\n"
    )
    (recording,) = recordings_of(written(tmp_path), tools, looks, inputs=(1, 2))
    assert kinds(recording.steps) == "LC"
    goes_on = looks.replace("factor[2];", "factor[2] = {1, 1};")
    (recording,) = recordings_of(written(tmp_path / "on"), tools, goes_on, inputs=(1, 2))
    assert kinds(recording.steps) == "LCLCLC"


def test_copies_between_host_and_device_are_recorded_with_their_arrays(tmp_path: Path, tools: Tools) -> None:
    """By names, so that a replay copies the inputs that it has."""
    (recording,) = recordings_of(written(tmp_path, **ON_HOST), tools, on_host(), inputs=(1, 2))
    up, product, down = recording.steps
    dx, dy = (ArrayLocation(name) for name, _ in recording.scratch)
    assert up == CopyStep(dx, ArrayLocation("x"), 4000)
    assert isinstance(product, LaunchStep)
    assert [place for _, places in product.parameters for _, place in places] == [dx, dy]
    assert down == CopyStep(ArrayLocation("y"), dy, 4000)
    assert recording.contents == ()


def test_a_constant_of_the_hosts_own_is_part_of_the_recording(tmp_path: Path, tools: Tools) -> None:
    """It is the same for all inputs."""
    source = on_host("float two[2] = {0, 2}; cudaMemcpyToSymbol(factor, two, sizeof two);")
    (recording,) = recordings_of(written(tmp_path, **ON_HOST), tools, source, inputs=(1, 2))
    assert [len(content) for _, content in recording.contents] == [8]


CSTDLIB = "#include <cstdlib>\n"
CHANGED = "its host code itself changes the array `y`"
WRITES = {
    "a result in place": (on_host(after="y[0] *= 2;"), CHANGED),
    "a result of its own": (on_host(after="for (int i = 0; i < n; i++) y[i] = 4 * x[i];"), CHANGED),
    "an input": (on_host("((float *)x)[3] = 1;"), "changes the array `x`"),
    "a copy of its input": (
        on_host("float mine[1000]; for (int i = 0; i < n; i++) mine[i] = x[i] / 2;", source="mine"),
        "computes from the inputs",
    ),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_the_host_computes_beside_its_copies_is_not_timed(
    tmp_path: Path, tools: Tools, what: str
) -> None:
    """A replay would leave it out, and its result would be wrong."""
    source, reason = WRITES[what]
    with pytest.raises(OurError, match=reason):
        recordings_of(written(tmp_path, **ON_HOST), tools, source, inputs=(1, 2))


def test_results_that_come_back_in_parts_are_computed(tmp_path: Path, tools: Tools) -> None:
    """The function could look at the first part before it asks for the second."""
    source = on_host(
        after="""
    product<<<(n + 127) / 128, 128>>>(dx, dy, 3, n);
    cudaMemcpy(y + n / 2, dy + n / 2, n / 2 * sizeof(float), cudaMemcpyDeviceToHost);"""
    )
    (recording,) = recordings_of(written(tmp_path, **ON_HOST), tools, source, inputs=(1, 2))
    assert kinds(recording.steps) == "CLCLC"
    last = recording.steps[-1]
    assert isinstance(last, CopyStep)
    assert last.to == ArrayLocation("y", 2000)


def test_a_function_that_gives_up_on_strange_results_is_computed(tmp_path: Path, tools: Tools) -> None:
    """With those that there are it does not."""
    strange = on_host(after="if (y[5] != 3 * x[5]) std::abort();")
    (recording,) = recordings_of(written(tmp_path, **ON_HOST), tools, CSTDLIB + strange, inputs=(1, 2))
    assert kinds(recording.steps) == "CLC"


def test_a_function_that_looks_at_an_output_on_the_host_is_computed(tmp_path: Path, tools: Tools) -> None:
    """It does something else as results differ, so none that were made up will do."""
    source = on_host(
        after="""
    if (y[5] == 3) { cudaMemset(dy, 0, 4); cudaMemcpy(y, dy, 4, cudaMemcpyDeviceToHost); }
    if (y[5] > 0) cudaMemset(dy, 0, 4);"""
    )
    one, two = recordings_of(written(tmp_path, **ON_HOST), tools, source, inputs=(1, 2))
    assert (kinds(one.steps), kinds(two.steps)) == ("CLCFCF", "CLCF")
