"""Programs that include the headers beside NVIDIA's samples run unchanged, with headers of the grader's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from grader.base.data_files import headers_folder
from grader.model import ProgramInterface, Submission
from grader.toolchain.nvcc.source import PROGRAM_HEADERS, compile_files
from tests.running.device.test_launches import run

if TYPE_CHECKING:
    from grader.toolchain.nvcc import Tools

SAMPLE = r"""#include <helper_cuda.h>
#include "../Common/helper_functions.h"
#include <cuda_profiler_api.h>
__global__ void twice(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] *= 2; }
enum Status { GOOD };
int main(int argc, char **argv) {
    checkCudaErrors(GOOD);
    const char *words[] = {"./sample", "-n=3", "--name=abc", "-quick"};
    char *name = nullptr;
    int device = findCudaDevice(4, words), n = getCmdLineArgumentInt(4, words, "n");
    getCmdLineArgumentString(4, words, "name", &name);
    bool quick = checkCmdLineFlag(4, words, "quick"), q = checkCmdLineFlag(4, words, "q");
    printf("%d %d %s %d%d\n", device, n, name, quick, q);
    float h[] = {1, 2, 3}, twos[] = {2, 4, 6}, *d;
    StopWatchInterface *timer = nullptr;
    sdkCreateTimer(&timer), sdkStartTimer(&timer), cudaProfilerStart();
    checkCudaErrors(cudaMalloc(&d, sizeof h));
    checkCudaErrors(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    twice<<<1, 32>>>(d, n);
    getLastCudaError("twice failed");
    checkCudaErrors(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    cudaProfilerStop(), sdkStopTimer(&timer);
    printf("%d %d\n", sdkGetTimerValue(&timer) > 0, sdkCompareL2fe(twos, h, 3, 1e-6f));
    sdkDeleteTimer(&timer);
    fflush(stdout);
    checkCudaErrors(cudaMemcpy(d, h, 2 * sizeof h, cudaMemcpyHostToDevice));
}
"""


def names(source: str, *headers: tuple[str, bytes]) -> set[str]:
    """The files that a program is compiled with."""
    submission = Submission("s", "s.cu", source.encode(), "", headers=headers)
    return {name for name, _ in compile_files(submission, ProgramInterface())}


def test_who_includes_a_header_gets_it_with_those_that_it_includes() -> None:
    """No other file gets any, and a header of the student's own stays theirs."""
    helpers = {"helper_cuda.h", "helper_string.h"}
    assert names("#include <helper_cuda.h>\n") > helpers
    assert not names("// helper_cuda.h\nint main() {}\n") & {*PROGRAM_HEADERS}
    own = Submission(
        "s", "s.cu", b'#include "helper_cuda.h"\n', "", headers=(("helper_cuda.h", b"// mine\n"),)
    )
    assert dict(compile_files(own, ProgramInterface()))["helper_cuda.h"] == b"// mine\n"


def test_a_minimum_of_ones_own_is_possible_beside_checked_calls() -> None:
    """NVIDIA's `helper_cuda.h` has a maximum alone; the minimum comes with `helper_functions.h`."""
    defining = {n for n in PROGRAM_HEADERS if "#define MIN(" in (headers_folder() / n).read_text()}
    assert "helper_cuda.h" not in defining


def test_headers_include_only_what_is_looked_for_after_them() -> None:
    """One look at each in turn finds all that a program needs."""
    for place, name in enumerate(PROGRAM_HEADERS):
        text = (headers_folder() / name).read_text()
        assert {*re.findall(r'#include "(.+)"', text)} <= {*PROGRAM_HEADERS[place + 1 :]}


@pytest.mark.slow
def test_a_sample_runs_as_beside_nvidias(own_tools: Tools) -> None:
    """Arguments, stopwatch, comparison and checked calls, also of libraries, do what they should.

    A call that fails ends it.
    """
    printed, device = run(own_tools, SAMPLE)
    assert printed == "GPU Device 0: compute capability 8.0\n\n0 3 abc 10\n1 1\n"
    assert [str(mistake.code) for mistake in device.device.mistakes] == ["copy-too-large"]


VECTORS = r"""#include <cstdio>
#include <helper_math.h>
#include <nvToolsExt.h>
__global__ void turn(float3 *p, float4 *q, int2 *r) {
    float3 a = p[0], b = make_float3(1.0f, 0.0f, 2.0f);
    p[1] = cross(a, b) + 2.0f * a - b / 2.0f, p[2] = normalize(make_float3(3.0f, 0.0f, 4.0f));
    q[0] = make_float4(lerp(1.0f, 3.0f, 0.25f), dot(a, b), length(b * b), clamp(7.0f, 0.0f, 1.0f));
    q[0] += make_float4(a, 1.0f);
    r[0] = max(make_int2(1, 5), make_int2(4, 2)) * 2;
}
int main() {
    nvtxRangePushA("turn");
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION, event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII, event.message.ascii = "mark";
    nvtxMarkEx(&event);
    float3 h[3] = {make_float3(1.0f, 2.0f, 3.0f), make_float3(0.0f), make_float3(0.0f)}, *p;
    float4 g[2], *q; int2 i[2], *r;
    cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte);
    cudaSharedMemConfig config; cudaDeviceGetSharedMemConfig(&config);
    cudaMalloc(&p, sizeof h), cudaMalloc(&q, sizeof g), cudaMalloc(&r, sizeof i);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    turn<<<1, 1>>>(p, q, r);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost), cudaMemcpy(g, q, sizeof *g, cudaMemcpyDeviceToHost);
    cudaMemcpy(i, r, sizeof *i, cudaMemcpyDeviceToHost);
    std::printf("%g %g %g, %g %g %g\n", h[1].x, h[1].y, h[1].z, h[2].x, h[2].y, h[2].z);
    std::printf("%g %g %g %g, %d %d\n", g[0].x, g[0].y, g[0].z, g[0].w, i[0].x, i[0].y);
    std::printf("%d %d\n", config == cudaSharedMemBankSizeFourByte, nvtxRangePop());
    cudaFree(p), cudaFree(q), cudaFree(r);
}
"""


@pytest.mark.slow
def test_vectors_are_computed_with_as_beside_nvidias(own_tools: Tools) -> None:
    """The ranges of a profiler, and the width of banks, are accepted and do nothing."""
    printed, _ = run(own_tools, VECTORS)
    assert printed == "5.5 5 3, 0.6 0 0.8\n2.5 9 7.12311 2, 8 10\n1 0\n"


def test_the_header_of_a_profiler_comes_under_both_of_its_names() -> None:
    """The earlier one includes the later."""
    assert names("#include <nvToolsExt.h>\n") > {"nvToolsExt.h", "nvtx3/nvToolsExt.h"}
    assert names('#include "nvtx3/nvToolsExt.h"\n') > {"nvtx3/nvToolsExt.h"}
