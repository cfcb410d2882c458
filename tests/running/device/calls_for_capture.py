"""Calls that capture streams, and launch the graphs that come of it."""

from __future__ import annotations

from tests.running.device.call_case import Case

_STREAMS = (
    "unsigned char *d, *p; cudaMalloc(&d, 8); cudaMallocHost((void **)&p, 8); cudaMemset(d, 0, 8);"
    "std::memset(p, 7, 8); cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t);"
    "cudaEvent_t fork, join; cudaEventCreate(&fork), cudaEventCreate(&join);"
    "cudaGraph_t graph = (cudaGraph_t)1; cudaGraphExec_t exec; size_t nodes = 0;"
    "cudaStreamCaptureStatus status;"
    "auto show = [&] { unsigned char h[8]; cudaMemcpy(h, d, 8, cudaMemcpyDeviceToHost);"
    'for (int v : h) std::printf("%d", v); std::puts(""); };'
)
_BEGIN = _STREAMS + "cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);"
_FORK = _BEGIN + "cudaEventRecord(fork, s), cudaStreamWaitEvent(t, fork, 0);"
_LAUNCH = "cudaGraphInstantiate(&exec, graph, 0); cudaGraphLaunch(exec, s), cudaStreamSynchronize(s);"
_END = "SAY(cudaStreamEndCapture(s, &graph));"

CALLS_FOR_CAPTURE = {
    "a capture does nothing, and its graph does it each time": Case(
        _BEGIN
        + "cudaMemsetAsync(d, 1, 4, s), cudaMemcpyAsync(d + 4, p, 2, cudaMemcpyHostToDevice, s);"
        + "cudaStreamIsCapturing(s, &status);"
        + _END
        + "show(); cudaGraphGetNodes(graph, nullptr, &nodes);"
        + 'std::printf("%d %zu\\n", status == cudaStreamCaptureStatusActive, nodes);'
        + _LAUNCH
        + "show(); std::memset(p, 9, 8), cudaMemset(d, 0, 8), cudaGraphLaunch(exec, t);"
        + "cudaDeviceSynchronize();"
        + "show(); SAY(cudaGraphDestroy(graph)), SAY(cudaGraphExecDestroy(exec));",
        "cudaSuccess\n00000000\n1 2\n11117700\n11119900\ncudaSuccess\ncudaSuccess\n",
    ),
    "a graph outlives what it was made of": Case(
        _BEGIN
        + "cudaMemsetAsync(d, 1, 4, s); cudaStreamEndCapture(s, &graph);"
        + "cudaGraphInstantiate(&exec, graph, 0), cudaGraphDestroy(graph), cudaStreamDestroy(s);"
        + "cudaGraphLaunch(exec, t), cudaStreamSynchronize(t); show();"
        + "SAY(cudaGraphLaunch(nullptr, t));",
        "11110000\ncudaErrorInvalidValue\n",
    ),
    "another stream joins a capture by events, and is joined": Case(
        _FORK
        + "cudaMemsetAsync(d, 2, 4, t), cudaEventRecord(join, t), cudaMemsetAsync(d + 4, 3, 4, s);"
        + "cudaStreamWaitEvent(s, join, 0), cudaMemsetAsync(d + 2, 4, 4, s);"
        + _END
        + "show();"
        + _LAUNCH
        + "show();",
        "cudaSuccess\n00000000\n22444433\n",
    ),
    "branches of a graph on the same bytes are a race": Case(
        _FORK
        + "cudaMemsetAsync(d, 2, 4, t), cudaEventRecord(join, t), cudaMemsetAsync(d, 3, 4, s);"
        + "cudaStreamWaitEvent(s, join, 0);"
        + _END
        + _LAUNCH,
        "cudaSuccess\n",
        ("stream-race",),
    ),
    "launches of one graph wait for each other, whatever their streams": Case(
        _BEGIN
        + "cudaMemsetAsync(d, 2, 4, s), cudaStreamEndCapture(s, &graph);"
        + "cudaGraphInstantiate(&exec, graph, 0), cudaGraphLaunch(exec, s), cudaGraphLaunch(exec, t);"
        + "cudaDeviceSynchronize(); show();",
        "22220000\n",
    ),
    "launches of two graphs in two streams do not": Case(
        _BEGIN
        + "cudaMemsetAsync(d, 2, 4, s), cudaStreamEndCapture(s, &graph);"
        + "cudaGraphInstantiate(&exec, graph, 0), cudaGraphLaunch(exec, s);"
        + "cudaGraphInstantiate(&exec, graph, 0), cudaGraphLaunch(exec, t);",
        "",
        ("stream-race",),
    ),
    "a stream that is not joined spoils the graph": Case(
        _FORK
        + "cudaEventRecord(join, t), cudaMemsetAsync(d, 2, 4, t), cudaStreamWaitEvent(s, join, 0);"
        + _END
        + 'std::printf("%d\\n", graph == nullptr);',
        "cudaErrorStreamCaptureUnjoined\n1\n",
    ),
    "the default stream must not wait for one that is captured": Case(
        _BEGIN + "SAY(cudaMemsetAsync(d, 1, 4, 0)); SAY(cudaMemsetAsync(d, 1, 4, s));" + _END + "show();",
        "cudaErrorStreamCaptureImplicit\ncudaErrorStreamCaptureInvalidated\n"
        "cudaErrorStreamCaptureInvalidated\n00000000\n",
    ),
    "a stream that does not block may be captured beside the default stream": Case(
        _STREAMS
        + "cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);"
        + "cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed), cudaMemsetAsync(d, 1, 4, s);"
        + "cudaMemset(d + 4, 5, 4); show();"
        + _END
        + _LAUNCH
        + "show();",
        "00005555\ncudaSuccess\n11115555\n",
    ),
    "nothing waits for a stream that is captured": Case(
        _BEGIN + "SAY(cudaStreamSynchronize(s));" + _END + "SAY(cudaStreamEndCapture(s, &graph));"
        "cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); SAY(cudaDeviceSynchronize());" + _END,
        "cudaErrorStreamCaptureUnsupported\ncudaErrorStreamCaptureInvalidated\ncudaErrorIllegalState\n"
        "cudaErrorStreamCaptureUnsupported\ncudaErrorStreamCaptureInvalidated\n",
    ),
    "a capture waits for no event of before": Case(
        _STREAMS + "cudaEventRecord(fork, t); cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);"
        "SAY(cudaStreamWaitEvent(s, fork, 0)); SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));"
        "SAY(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)); SAY(cudaStreamEndCapture(t, &graph));",
        "cudaErrorStreamCaptureIsolation\ncudaErrorIllegalState\ncudaErrorStreamCaptureUnsupported\n"
        "cudaErrorIllegalState\n",
    ),
    "an event that was never recorded is no wait": Case(
        _BEGIN
        + "SAY(cudaStreamWaitEvent(s, fork, 0)); cudaMemsetAsync(d, 1, 4, s);"
        + _END
        + _LAUNCH
        + "show();",
        "cudaSuccess\ncudaSuccess\n11110000\n",
    ),
    "a function of the host is called each time": Case(
        _BEGIN
        + 'cudaLaunchHostFunc(s, [](void *) { std::puts("called"); }, nullptr), std::puts("captured");'
        + _END
        + _LAUNCH
        + "cudaGraphLaunch(exec, s);",
        "captured\ncudaSuccess\ncalled\ncalled\n",
    ),
}
