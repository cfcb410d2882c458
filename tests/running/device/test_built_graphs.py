"""Graphs that are built node by node: what their launches do, and what order their nodes have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.running.device.test_launches import run

if TYPE_CHECKING:
    from grader.toolchain.nvcc import Tools

pytestmark = pytest.mark.slow

HEAD = r"""#include <cstdio>
__global__ void add(int *to, const int *from, int more) { to[threadIdx.x] += from[threadIdx.x] + more; }
static void tell(void *text) { std::printf("%s\n", (const char *)text); }
static int *a, *b, h[4] = {1, 2, 3, 4}, out[4], one = 1, ten = 10;
static cudaGraph_t graph;
static cudaGraphExec_t ready;
static cudaKernelNodeParams kernel(int *&to, int *&from, int &more, void **arguments) {
    arguments[0] = &to, arguments[1] = &from, arguments[2] = &more;
    cudaKernelNodeParams how = {};
    how.func = (void *)add, how.gridDim = dim3(1), how.blockDim = dim3(4), how.kernelParams = arguments;
    return how;
}
static void show() {
    std::printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
}
int main() {
    cudaMalloc(&a, sizeof h), cudaMalloc(&b, sizeof h);
    cudaGraphCreate(&graph, 0);
    BODY
    cudaGraphExecDestroy(ready), cudaGraphDestroy(graph), cudaFree(a), cudaFree(b);
}
"""

WHOLE = r"""
    cudaGraphNode_t up, zero, sum, down, said; void *arguments[3];
    cudaMemsetParams none = {};
    none.dst = b, none.elementSize = 4, none.width = 4, none.height = 1;
    cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, a, h, sizeof h, cudaMemcpyHostToDevice);
    cudaGraphAddMemsetNode(&zero, graph, nullptr, 0, &none);
    cudaKernelNodeParams how = kernel(b, a, one, arguments);
    cudaGraphNode_t both[] = {up, zero};
    cudaGraphAddKernelNode(&sum, graph, both, 2, &how);
    cudaGraphAddMemcpyNode1D(&down, graph, &sum, 1, out, b, sizeof out, cudaMemcpyDeviceToHost);
    cudaHostNodeParams words = {tell, (void *)"done"};
    cudaGraphAddHostNode(&said, graph, &down, 1, &words);
    size_t all = 0, first = 0; cudaGraphNodeType type;
    cudaGraphGetNodes(graph, nullptr, &all), cudaGraphGetRootNodes(graph, nullptr, &first);
    cudaGraphNodeGetType(sum, &type);
    std::printf("%zu %zu %d\n", all, first, type == cudaGraphNodeTypeKernel);
    cudaGraphInstantiate(&ready, graph, 0);
    how = kernel(a, a, ten, arguments);
    for (int round = 0; round < 2; ++round) cudaGraphLaunch(ready, 0), cudaDeviceSynchronize(), show();
    how = kernel(b, a, ten, arguments);
    std::puts(cudaGetErrorName(cudaGraphExecKernelNodeSetParams(ready, sum, &how)));
    cudaGraphLaunch(ready, 0), cudaDeviceSynchronize(), show();
    std::puts(cudaGetErrorName(cudaGraphExecKernelNodeSetParams(ready, up, &how)));
"""


def test_nodes_are_done_after_what_they_need_at_each_launch(own_tools: Tools) -> None:
    """Parameters are those of the moment when the node was added, or changed in what was instantiated."""
    printed, device = run(own_tools, HEAD.replace("BODY", WHOLE))
    assert printed.splitlines() == [
        "5 2 1",
        "done",
        "2 3 4 5",
        "done",
        "2 3 4 5",
        "cudaSuccess",
        "done",
        "11 12 13 14",
        "cudaErrorInvalidValue",
    ]
    assert [str(mistake.code) for mistake in device.device.mistakes] == []


UNORDERED = r"""
    cudaGraphNode_t up, sum, down; void *arguments[3];
    cudaMemset(b, 0, sizeof h);
    cudaGraphAddMemcpyNode1D(&up, graph, nullptr, 0, a, h, sizeof h, cudaMemcpyHostToDevice);
    cudaKernelNodeParams how = kernel(b, a, one, arguments);
    cudaGraphAddKernelNode(&sum, graph, nullptr, 0, &how);
    ORDER
    cudaGraphAddMemcpyNode1D(&down, graph, &sum, 1, out, b, sizeof out, cudaMemcpyDeviceToHost);
    cudaGraphInstantiate(&ready, graph, 0), cudaGraphLaunch(ready, 0), cudaDeviceSynchronize(), show();
"""


@pytest.mark.parametrize(
    ("order", "mistakes"),
    [("", ["stream-race"]), ("cudaGraphAddDependencies(graph, &up, &sum, nullptr, 1);", [])],
    ids=["no edge", "an edge"],
)
def test_nodes_without_an_edge_have_no_order(own_tools: Tools, order: str, mistakes: list[str]) -> None:
    """A kernel that reads what another node copies races with it, as streams do."""
    _, device = run(own_tools, HEAD.replace("BODY", UNORDERED.replace("ORDER", order)))
    assert [str(mistake.code) for mistake in device.device.mistakes] == mistakes


CIRCLE = r"""
    cudaGraphNode_t first, second;
    cudaGraphAddEmptyNode(&first, graph, nullptr, 0), cudaGraphAddEmptyNode(&second, graph, &first, 1);
    cudaGraphAddDependencies(graph, &second, &first, nullptr, 1);
    std::puts(cudaGetErrorName(cudaGraphInstantiate(&ready, graph, 0)));
    std::puts(cudaGetErrorName(cudaGraphAddEmptyNode(&first, (cudaGraph_t)0x10, nullptr, 0)));
    cudaGraphNode_t none = (cudaGraphNode_t)0x10;
    std::puts(cudaGetErrorName(cudaGraphAddEmptyNode(&first, graph, &none, 1)));
"""


def test_nodes_that_need_each_other_and_handles_of_nothing_are_refused(own_tools: Tools) -> None:
    """As CUDA refuses them; no memory is looked at that a program only names."""
    printed, _ = run(own_tools, HEAD.replace("BODY", CIRCLE))
    assert printed.splitlines() == ["cudaErrorInvalidValue"] * 3


UPDATED = r"""
    cudaStream_t s; cudaStreamCreate(&s); int code;
    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice), cudaMemset(b, 0, sizeof h);
    for (int round = 0; round < 3; ++round) {
        cudaGraph_t captured;
        cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
        add<<<1, 4, 0, s>>>(b, a, round * ten);
        cudaStreamEndCapture(s, &captured);
        cudaGraphExecUpdateResultInfo info;
        if (!round) cudaGraphInstantiate(&ready, captured, 0);
        else code = cudaGraphExecUpdate(ready, captured, &info), std::printf("%d %d\n", code, info.result);
        cudaGraphDestroy(captured), cudaGraphLaunch(ready, s), cudaStreamSynchronize(s);
    }
    cudaGraphExecUpdateResultInfo info;
    std::printf("%d\n", cudaGraphExecUpdate(ready, graph, &info) == cudaErrorGraphExecUpdateFailure);
    cudaMemcpy(out, b, sizeof out, cudaMemcpyDeviceToHost), show(), cudaStreamDestroy(s);
"""


def test_a_graph_takes_the_place_of_one_with_as_many_nodes(own_tools: Tools) -> None:
    """The new capture is launched from then on; another number of nodes is refused."""
    printed, _ = run(own_tools, HEAD.replace("BODY", UPDATED))
    assert printed.splitlines() == ["0 0", "0 0", "1", "33 36 39 42"]
