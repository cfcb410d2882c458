"""Programs that leave their kernels to Thrust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.running.device.test_launches import kernel_findings, run

if TYPE_CHECKING:
    from grader.toolchain.nvcc import Tools

_PROGRAM = """
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
struct Square { __host__ __device__ int operator()(int x) const { return x * x; } };
__global__ void twice(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= 2; }
int main() {
    thrust::device_vector<int> a(100), b(100);
    thrust::sequence(a.begin(), a.end());
    twice<<<1, 128>>>(thrust::raw_pointer_cast(a.data()), 100);
    thrust::transform(a.begin(), a.end(), b.begin(), Square());
    std::printf("%d %d\\n", thrust::reduce(b.begin(), b.end()), (int)a[99]);
}
"""


def test_algorithms_of_thrust_run_beside_kernels_of_the_program(own_tools: Tools) -> None:
    """Transform and reduction give what they should, and nothing in them is taken for a mistake."""
    printed, device = run(own_tools, _PROGRAM)
    squares = sum((2 * i) ** 2 for i in range(100))
    assert (printed, device.unsupported) == (f"{squares} 198\n", "")
    assert kernel_findings(device) == []
