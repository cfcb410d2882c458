"""Launches of whole programs: the heap of kernels, and what the emulator leaves to other devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.kinds.host_runs.on_emulator import EmulatedDevice
from grader.model import ProgramInterface, Submission
from grader.model.messages import clause
from grader.running.device.service import serve
from grader.toolchain.nvcc import build_program
from grader.toolchain.sandbox import Job, Limits, LocalSandbox, Stage
from grader.toolchain.sandbox.channel import channel

if TYPE_CHECKING:
    from grader.model import Named
    from grader.toolchain.nvcc import Tools

_LIMITS = Limits(wall_seconds=60.0, cpu_seconds=60)

_PASSES_A_FUNCTION = """
#include <cstdio>
typedef float (*Operation)(float, float);
__device__ float times(float a, float b) { return a * b; }
__device__ float plus(float a, float b) { return a + b; }
__device__ Operation chosen = times, other = plus;
__global__ void apply(Operation operation, const float *a, float *out) { *out = operation(a[0], a[1]); }
int main() {
    float *d, h[] = {3, 4}; cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    Operation operation; cudaMemcpyFromSymbol(&operation, chosen, sizeof operation);
    apply<<<1, 1>>>(operation, d, d);
    cudaMemcpy(h, d, sizeof *h, cudaMemcpyDeviceToHost);
    std::printf("%g\\n", h[0]);
    cudaFree(d);
}
"""

_TAKES_LONG = """
__global__ void lengthen(unsigned *p) {
    for (unsigned long long i = 0; i < 1ull << 40; ++i) *p = *p * 1664525u + 1013904223u;
}
int main() {
    unsigned *p; cudaMalloc(&p, sizeof *p); cudaMemset(p, 0, sizeof *p);
    lengthen<<<1, 1>>>(p);
    return cudaDeviceSynchronize();
}
"""

_SHARES_A_BLOCK = """
#include <cstdio>
__global__ void squares(int *out) {
    __shared__ int *taken;
    if (threadIdx.x == 0) taken = (int *)malloc(blockDim.x * sizeof(int));
    __syncthreads();
    taken[threadIdx.x] = threadIdx.x * threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = taken[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(taken);
}
int main() {
    int *d, h[4]; cudaMalloc(&d, sizeof h);
    for (int i = 0; i < 2; ++i) squares<<<1, 4>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    std::printf("%d %d %d %d\\n", h[0], h[1], h[2], h[3]); cudaFree(d);
}
"""

_KEEPS_OBJECTS = """
#include <cstdio>
struct Shape { __device__ virtual float area() const = 0; __device__ virtual ~Shape() {} };
struct Square : Shape {
    float side;
    __device__ Square(float s) : side(s) {}
    __device__ float area() const override { return side * side; }
};
struct Disc : Shape {
    float radius;
    __device__ Disc(float r) : radius(r) {}
    __device__ float area() const override { return 3 * radius * radius; }
};
__global__ void make(Shape **all, int n) {
    int i = threadIdx.x;
    if (i < n) all[i] = i % 2 ? (Shape *)new Square(i) : (Shape *)new Disc(i);
}
__global__ void measure(Shape **all, float *areas, int n) {
    if (threadIdx.x < n) areas[threadIdx.x] = all[threadIdx.x]->area();
}
__global__ void release(Shape **all, int n) { if (threadIdx.x < n) delete all[threadIdx.x]; }
int main() {
    const int n = 40; Shape **all; float *d, areas[n];
    cudaMalloc(&all, n * sizeof *all);
    for (int round = 0; round < 3; ++round) {
        make<<<1, 64>>>(all, n);
        cudaMalloc(&d, sizeof areas);
        measure<<<1, 64>>>(all, d, n);
        cudaMemcpy(areas, d, sizeof areas, cudaMemcpyDeviceToHost);
        std::printf("%g %g\\n", areas[38], areas[39]);
        release<<<1, 64>>>(all, n);
        cudaFree(d);
    }
    cudaFree(all);
    return cudaDeviceSynchronize();
}
"""

_USES_AN_OLD_BLOCK = """
__device__ int *kept, *other;
__global__ void take() { kept = (int *)malloc(4); other = (int *)malloc(4); *kept = 7; }
__global__ void release() { free(kept); }
__global__ void use(int *out) { *out = *kept + *other; }
int main() {
    int *d; cudaMalloc(&d, 4);
    take<<<1, 1>>>(); release<<<1, 1>>>(); use<<<1, 1>>>(d);
    cudaDeviceSynchronize();
}
"""

_FILLS_THE_HEAP = """
#include <cstdio>
__device__ char *kept, *last;
__global__ void take(size_t size) { kept = (char *)malloc(64); last = (char *)malloc(size); *kept = 7; }
__global__ void swap(size_t size) { free(last); last = (char *)malloc(size); *last = *kept; }
__global__ void look(int *out) { *out = last != nullptr ? *last : -1; }
int main() {
    int *d, h; cudaMalloc(&d, sizeof h);
    const size_t size = 3 << 20;
    take<<<1, 1>>>(size);
    for (int i = 0; i < 5; ++i) swap<<<1, 1>>>(size);
    look<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    std::printf("%d\\n", h);
}
"""

_TAKES_OF_THE_STACK = """
__global__ void fill(int *out, int n) {
    int *own = (int *)alloca(n * sizeof(int));
    for (int i = 0; i < n; ++i) own[i] = i;
    *out = own[n - 1];
}
int main() { int *d; cudaMalloc(&d, 4); fill<<<1, 1>>>(d, 9); cudaDeviceSynchronize(); }
"""

_READS_AN_UNUSED_VALUE = """
#include <cstdio>
__global__ void fill(int *out, int n) {
    int *none = n < 0 ? out : (int *)(size_t)(n * 0);
    if (*none > 0 && n < 0 && n > 0) return;
    *out = n;
}
int main() {
    int *d, h = 0; cudaMalloc(&d, 4);
    fill<<<1, 1>>>(d, 9);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    std::printf("%d\\n", h); cudaFree(d);
}
"""

_WAITS_FOR_THE_GRID = """
#include <cooperative_groups.h>
#include <cstdio>
__global__ void both(int *p, int n) {
    int own = blockIdx.x * blockDim.x + threadIdx.x, other = n - 1 - own;
    for (int round = 1; round <= 3; ++round) {
        p[own] = 10 * round + blockIdx.x;
        BARRIER;
        int seen = p[other];
        BARRIER;
        p[n + own] = seen;
    }
}
int main(int count, char **) {
    int block = 64, grid = count > 1 ? 200000 : 40, n = grid * block;
    int *d, h[2]; cudaMalloc(&d, 8 * n); void *arguments[] = {&d, &n};
    for (int i = 0; i < 2; ++i) {
        std::puts(cudaGetErrorName(cudaLaunchCooperativeKernel((void *)both, grid, block, arguments)));
        std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    }
    std::puts(cudaGetErrorName(cudaGetLastError()));
    cudaMemcpy(h, d + n, 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(h + 1, d + 2 * n - 1, 4, cudaMemcpyDeviceToHost);
    if (count == 1) std::printf("%d %d\\n", h[0], h[1]);
    cudaFree(d);
}
"""
_CALLS_BY_POINTER = """
#include <cstdio>
typedef float (*operation)(float *, float);
static __device__ float inlined(float *p, float x) { if (x < 0) *(p + 100000) = x; return 2 * x; }
static __device__ float twice_more(float *p, float x) { return inlined(p, x) + 1; }
BEGIN __device__ float add(float *p, float x) { return *p + x; } END
BEGIN __device__ float subtract(float *p, float x) { return *p - x; } END
BEGIN __device__ operation chosen; END
BEGIN __global__ void choose(float *p, int which) {
    chosen = which ? subtract : add; p[1] = twice_more(p, 1); } END
BEGIN __global__ void apply(float *p) { p[1] += chosen(p, -3); } END
int main() {
    float *d, h[2] = {1, 0}; cudaMalloc(&d, sizeof h);
    for (int which = 0; which < 2; ++which) {
        cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice);
        choose<<<1, 1>>>(d, which); apply<<<1, 1>>>(d);
        cudaMemcpy(h + 1, d + 1, 4, cudaMemcpyDeviceToHost); std::printf("%g\\n", h[1]);
    }
    cudaFree(d);
}
"""

_NAMES_A_TAG = """
#include <cstdio>
struct Tag { int value = 1; };
__device__ int read(const Tag &tag, const int *p) { return *p * tag.value; }
__global__ void copy(int *p) { static constexpr Tag tag{}; p[1] = read(tag, p); }
int main() {
    int *d, h[2] = {7, 0}; cudaMalloc(&d, sizeof h); cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice);
    copy<<<1, 1>>>(d); cudaMemcpy(h, d, 8, cudaMemcpyDeviceToHost); std::printf("%d\\n", h[1]); cudaFree(d);
}
"""
_INDEXES_A_STRUCT = """
#include <cstdio>
struct Weights { float values[4]; };
__global__ void pick(KIND Weights weights, float *p) {
    p[threadIdx.x] = weights.values[(threadIdx.x + 1) % 8];
}
int main() {
    float *d, h[8]; cudaMalloc(&d, sizeof h); Weights weights = {{1, 2, 3, 4}};
    pick<<<1, COUNT>>>(weights, d);
    cudaMemcpy(h, d, COUNT * sizeof(float), cudaMemcpyDeviceToHost); std::printf("%g %g\\n", h[0], h[2]);
    cudaFree(d);
}
"""
_GRID_BARRIER = "cooperative_groups::this_grid().sync()"


def run(
    tools: Tools,
    source: str,
    *words: str,
    limits: Limits = _LIMITS,
    work: int = 10**6,
    environment: Named[str] = (),
) -> tuple[str, EmulatedDevice]:
    """Run a program, and return its output and the device that it ran on."""
    built = build_program(tools, Submission("any", "any.cu", source.encode(), "0" * 8), ProgramInterface())
    assert built.ok, built.log
    device = EmulatedDevice(built, "any.cu", source, 2**29, work)
    with (
        channel() as folder,
        LocalSandbox().stage(Stage(limits, channel=str(folder))) as sandbox,
        serve(device.device, folder, limits.wall_seconds) as served,
    ):
        files = (("program", built.program),)
        environment = (*environment, *served.environment)
        result = sandbox.run(Job(("./program", *words), files, (), limits, environment=environment))
    return result.outcome.stdout.decode(), device


def kernel_findings(device: EmulatedDevice) -> list[str]:
    """The findings of all launches, in words."""
    return [str(finding) for run in device._launches.runs for finding in run.run.findings]


def test_a_kernel_takes_memory_from_the_heap(own_tools: Tools) -> None:
    """A program whose kernel shares a block from malloc runs as on a device, launch after launch."""
    printed, device = run(own_tools, _SHARES_A_BLOCK)
    assert (printed, device.unsupported, kernel_findings(device)) == ("9 4 1 0\n", "", [])


def test_the_arrays_of_a_launch_are_not_kept_behind_it(own_tools: Tools) -> None:
    """A program of a thousand launches would hold a thousand copies of its memory."""
    _, device = run(own_tools, _SHARES_A_BLOCK)
    runs = [launched.run for launched in device._launches.runs]
    assert runs
    assert all((run.outputs, run.unoptimised, run.warp_by_warp, run.heap) == ((),) * 4 for run in runs)


def test_a_pointer_to_a_function_is_given_to_a_kernel(own_tools: Tools) -> None:
    """Read from a variable of the device, as is usual, it is no pointer to memory of the host."""
    printed, device = run(own_tools, _PASSES_A_FUNCTION)
    codes = [mistake.code for mistake in device.device.mistakes]
    assert (printed, codes, kernel_findings(device)) == ("12\n", [], [])


def test_a_launch_is_given_up_when_no_one_waits_for_it_any_more(own_tools: Tools) -> None:
    """However much work it might do yet: it is too much work, and no failure of ours."""
    soon = Limits(wall_seconds=1.0, cpu_seconds=60)
    _, device = run(own_tools, _TAKES_LONG, limits=soon, work=10**12)
    gave_up = clause(device.too_much_work(1.0, 60.0, in_time=False))
    assert gave_up.startswith("too much work for the emulator")


@pytest.mark.parametrize(("begin", "end"), [("", ""), ("static", ""), ("namespace {", "}")])
def test_a_pointer_to_a_function_leads_to_it_in_both_builds(own_tools: Tools, begin: str, end: str) -> None:
    """A function that only the build for hazards keeps takes the place of no other, nor does anything else.

    What a file keeps to itself has a name with a number in it that nvcc makes anew for each build.
    """
    printed, device = run(own_tools, _CALLS_BY_POINTER.replace("BEGIN", begin).replace("END", end))
    assert (printed, device.unsupported, kernel_findings(device)) == ("1\n7\n", "", [])


def test_a_variable_that_only_the_build_for_hazards_keeps_has_an_address(own_tools: Tools) -> None:
    """Objects without state, which the headers of Thrust hand around, are optimised away in the other."""
    printed, device = run(own_tools, _NAMES_A_TAG)
    assert (printed, device.unsupported, kernel_findings(device)) == ("7\n", "", [])


@pytest.mark.parametrize("kind", ["", "const __grid_constant__"])
def test_a_struct_that_is_handed_over_may_be_indexed(own_tools: Tools, kind: str) -> None:
    """A parameter whose address is taken lies in memory that the kernel can only read."""
    source = _INDEXES_A_STRUCT.replace("COUNT", "3").replace("KIND", kind)
    printed, device = run(own_tools, source)
    assert (printed, device.unsupported, kernel_findings(device)) == ("2 4\n", "", [])


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("", "reads element 4 of a local array with room for 4, 1 past its end"),
        ("const __grid_constant__", "reads parameter 1[4], 1 past its end: parameter 1 has 4 elements"),
    ],
)
def test_an_index_beyond_a_struct_is_out_of_bounds(own_tools: Tools, kind: str, message: str) -> None:
    """The fourth thread reads behind the last of four values."""
    _, device = run(own_tools, _INDEXES_A_STRUCT.replace("COUNT", "4").replace("KIND", kind))
    messages = [finding.message for run in device._launches.runs for finding in run.run.findings]
    assert (device.unsupported, messages) == ("", [message])


def test_what_the_emulator_cannot_do_is_no_mistake_of_the_program(own_tools: Tools) -> None:
    """A correct program is accused of nothing; what is missing here is named."""
    _, device = run(own_tools, _TAKES_OF_THE_STACK)
    assert "alloca" in device.unsupported
    assert kernel_findings(device) == []


def test_a_read_that_only_the_unoptimised_build_makes_does_not_end_a_launch(own_tools: Tools) -> None:
    """A device runs the other build: the program goes on as it does there, and the line is reported."""
    output, device = run(own_tools, _READS_AN_UNUSED_VALUE)
    assert output == "cudaSuccess\n9\n"
    assert len(kernel_findings(device)) == 1


def test_what_a_kernel_makes_is_there_for_the_next_one(own_tools: Tools) -> None:
    """Objects with virtual functions live on the heap until a kernel deletes them."""
    printed, device = run(own_tools, _KEEPS_OBJECTS)
    assert (printed, device.unsupported, kernel_findings(device)) == (3 * "4332 1521\n", "", [])


def test_a_block_that_an_earlier_kernel_freed_is_nobodys(own_tools: Tools) -> None:
    """And what it never wrote is not set in a later one either."""
    _, device = run(own_tools, _USES_AN_OLD_BLOCK)
    (freed, unset) = kernel_findings(device)
    assert "freed" in freed
    assert "before anything was written" in unset


def test_room_on_the_heap_is_given_out_again(own_tools: Tools) -> None:
    """A kernel that frees and takes again does not run out of it."""
    printed, device = run(own_tools, _FILLS_THE_HEAP)
    assert (printed, kernel_findings(device)) == ("7\n", [])


def test_the_blocks_of_a_cooperative_launch_wait_for_each_other(own_tools: Tools) -> None:
    """All run side by side, and each sees what the others wrote; nothing races, launch after launch."""
    printed, device = run(own_tools, _WAITS_FOR_THE_GRID.replace("BARRIER", _GRID_BARRIER))
    assert printed == 5 * "cudaSuccess\n" + "69 30\n"
    assert (device.unsupported, kernel_findings(device)) == ("", [])


def test_blocks_of_a_cooperative_launch_that_do_not_wait_race(own_tools: Tools) -> None:
    """A barrier of the block is none of the grid."""
    _, device = run(own_tools, _WAITS_FOR_THE_GRID.replace("BARRIER", "__syncthreads()"))
    assert any("race" in finding for finding in kernel_findings(device))


def test_a_cooperative_launch_of_more_blocks_than_a_device_holds_is_refused(own_tools: Tools) -> None:
    """The code is CUDA's own, and the host's mistake has the reason."""
    source = _WAITS_FOR_THE_GRID.replace("BARRIER", _GRID_BARRIER)
    printed, device = run(own_tools, source, "large")
    too_large, success = "cudaErrorCooperativeLaunchTooLarge\n", "cudaSuccess\n"
    assert printed == 2 * (too_large + success) + too_large
    mistakes = [
        (str(mistake.code), dict(mistake.details)["reason"]) for mistake in device.device.mistakes[:1]
    ]
    assert mistakes == [("launch-refused", "cooperative")]
