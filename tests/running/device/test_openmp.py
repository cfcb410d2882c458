"""Programs whose host code uses OpenMP, as makefiles build them with ``-Xcompiler -fopenmp``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.kinds.host_runs.limits import THREADS
from tests.running.device.test_launches import kernel_findings, run

if TYPE_CHECKING:
    from grader.toolchain.nvcc import Tools

VERIFIED_BY_THREADS = r"""
#include <cstdio>
#include <cstdlib>
#include <omp.h>
__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main() {
    const int n = 1 << 12, bytes = n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes);
    double start = omp_get_wtime();
    #pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    bool positive = omp_get_wtime() - start > 0;
    float *da, *db, *dc;
    cudaMalloc(&da, bytes), cudaMalloc(&db, bytes), cudaMalloc(&dc, bytes);
    cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice), cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice);
    add<<<n / 256, 256>>>(da, db, dc, n);
    cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost);
    int wrong = 0, threads = 0;
    #pragma omp parallel for reduction(+ : wrong)
    for (int i = 0; i < n; i++) {
        if (c[i] != 3.0f * i) wrong++;
        if (!i) threads = omp_get_num_threads();
    }
    printf("%d %d %d %d\n", positive, wrong, threads, omp_get_max_threads());
    cudaFree(da), cudaFree(db), cudaFree(dc);
    free(a), free(b), free(c);
}
"""

EACH_THREAD_ASKS = r"""
#include <cstdio>
__global__ void fill(int *p, int n, int with) { if (threadIdx.x < n) p[threadIdx.x] = with; }
int main() {
    int right = 0, results[8][100];
    #pragma omp parallel for num_threads(8) reduction(+ : right) schedule(static, 1)
    for (int number = 0; number < 64; number++) {
        int *results_of = results[number % 8], *device;
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaMalloc(&device, 400);
        fill<<<1, 128, 0, stream>>>(device, 100, number);
        cudaMemcpyAsync(results_of, device, 400, cudaMemcpyDeviceToHost, stream);
        cudaStreamSynchronize(stream);
        bool all = cudaGetLastError() == cudaSuccess;
        for (int i = 0; i < 100; i++) all &= results_of[i] == number;
        cudaFree(device), cudaStreamDestroy(stream);
        right += all;
    }
    printf("%d\n", right);
}
"""

SHARED_BY_THREADS = r"""
#include <cstdio>
#include <omp.h>
__global__ void twice(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}
int main() {
    const int n = 1 << 14;
    int *p, wrong = 0;
    cudaMallocManaged(&p, n * sizeof *p);
    for (int round = 0; round < 20; round++) {
        #pragma omp parallel for num_threads(8)
        for (int i = 0; i < n; i++) p[i] = i + round;
        twice<<<n / 512, 512>>>(p, n);
        cudaDeviceSynchronize();
        #pragma omp parallel for num_threads(8) reduction(+ : wrong)
        for (int i = 0; i < n; i++) wrong += p[n - 1 - i] != 2 * (n - 1 - i + round);
    }
    printf("%d\n", wrong);
    cudaFree(p);
}
"""

ASKS_FOR_MANY = r"""
#include <cstdio>
#include <omp.h>
int main() {
    omp_set_num_threads(1000);
    int threads = 0;
    #pragma omp parallel reduction(+ : threads)
    threads++;
    printf("%d\n", threads);
}
"""


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        (VERIFIED_BY_THREADS, "1 0 4 4\n"),
        (EACH_THREAD_ASKS, "64\n"),
        (SHARED_BY_THREADS, "0\n"),
    ],
    ids=["a product is verified", "each thread has its stream", "managed memory"],
)
def test_threads_of_the_host_do_what_they_do_elsewhere(source: str, printed: str, own_tools: Tools) -> None:
    """Loops are shared out among as many threads as are documented, and all of them may call the device."""
    output, device = run(own_tools, source, environment=THREADS)
    assert (output, device.unsupported, kernel_findings(device)) == (printed, "", [])
    assert device.device.mistakes == []


def test_no_program_starts_more_threads_than_a_sandbox_allows(own_tools: Tools) -> None:
    """A program that asks for a thousand threads gets some of them, and is not ended."""
    output, _ = run(own_tools, ASKS_FOR_MANY, environment=THREADS)
    assert output == "32\n"
