"""Calls for streams and events, and for what waits for them."""

from __future__ import annotations

from tests.running.device.call_case import ARRAYS, Case

_CHUNKS = (
    "float *d, *p; cudaMalloc(&d, 800); cudaMallocHost((void **)&p, 800); cudaStream_t s[2];"
    "cudaStreamCreate(s), cudaStreamCreate(s + 1); for (int i = 0; i < 200; ++i) p[i] = 1;"
    "cudaMemcpy(d, p, 800, cudaMemcpyHostToDevice); for (int j = 0; j < 2; ++j)"
    "cudaMemcpyAsync(p + 100 * j, d + 100 * j, 400, cudaMemcpyDeviceToHost, s[j]);"
)
"""Two halves of pinned memory that copies in two streams write."""

CALLS_FOR_ORDER = {
    "a stream that nobody has waited for": Case(
        _CHUNKS + 'cudaStreamSynchronize(s[0]); std::printf("%g %g\\n", p[99], p[100]);',
        "1 1\n",
        ("touched-early",),
    ),
    "a stream that nobody has waited for, behind one that was": Case(
        _CHUNKS + "cudaStreamSynchronize(s[0]); float sum = 0; for (int i = 0; i < 200; ++i) sum += p[i];"
        'std::printf("%g\\n", sum);',
        "200\n",
        ("touched-early",),
    ),
    "an event that stands for one of two streams": Case(
        _CHUNKS + "cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s[1]); cudaEventSynchronize(e);"
        'std::printf("%g ", p[100]); std::printf("%g\\n", p[0]);',
        "1 1\n",
        ("touched-early",),
    ),
    "each stream is waited for before its chunk is read": Case(
        _CHUNKS + "float sum = 0; for (int j = 0; j < 2; ++j) { cudaStreamSynchronize(s[j]);"
        'for (int i = 0; i < 100; ++i) sum += p[100 * j + i]; } std::printf("%g\\n", sum);',
        "200\n",
    ),
    "a chunk is written while the other is copied": Case(
        _CHUNKS + "cudaStreamSynchronize(s[0]); for (int i = 0; i < 100; ++i) p[i] += i;"
        "std::memcpy(p + 50, p, 200); cudaMemcpy(d, p, 400, cudaMemcpyHostToDevice); p[100] += p[99];"
        'std::printf("%g %g\\n", p[99], p[100]);',
        "50 51\n",
    ),
    "two arrays of which a copy uses parts": Case(
        _CHUNKS + "float *q; cudaMallocHost((void **)&q, 800); cudaStreamSynchronize(s[0]);"
        "cudaMemcpyAsync(q + 100, d, 400, cudaMemcpyDeviceToHost, s[1]);"
        'std::memcpy(q, p, 400); std::printf("%g\\n", q[99]); cudaStreamSynchronize(s[1]);'
        'std::printf("%g %g\\n", q[100], p[199]);',
        "1\n1 1\n",
    ),
    "a stream that waits for another is waited for": Case(
        _CHUNKS
        + "cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s[0]); cudaStreamWaitEvent(s[1], e, 0);"
        'cudaStreamSynchronize(s[1]); std::printf("%g %g\\n", p[0], p[199]);',
        "1 1\n",
    ),
    "a waiting copy waits for streams that do not block, as little as they for it": Case(
        "float *d, *p, h; cudaMalloc(&d, 800); cudaMallocHost((void **)&p, 800); cudaMemset(d, 0, 800);"
        "cudaStream_t s;"
        "cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); cudaDeviceSynchronize();"
        "cudaMemcpyAsync(p, d, 400, cudaMemcpyDeviceToHost, s);"
        "cudaMemcpy(&h, d + 150, 4, cudaMemcpyDeviceToHost);"
        'std::printf("%g\\n", p[0]);',
        "0\n",
        ("touched-early",),
    ),
    "a copy to memory that is not pinned is over when the call returns": Case(
        ARRAYS + "int *m; cudaMallocManaged(&m, 400); cudaStream_t s; cudaStreamCreate(&s); int g[100];"
        "cudaMemsetAsync(m, 1, 400, s); cudaMemcpyAsync(g, m, 400, cudaMemcpyDeviceToHost, s);"
        'std::printf("%x %x\\n", g[5], m[5]);',
        "1010101 1010101\n",
    ),
    "managed memory after a waiting copy": Case(
        ARRAYS + "int *m; cudaMallocManaged(&m, 400); cudaMemsetAsync(m, 1, 400);"
        "cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); "
        'std::printf("%x\\n", m[5]);',
        "1010101\n",
    ),
    "what a stream was made with": Case(
        "cudaStream_t s; unsigned flags; int p, d;"
        "SAY(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -99));"
        "SAY(cudaStreamGetFlags(s, &flags)); SAY(cudaStreamGetPriority(s, &p));"
        "SAY(cudaStreamGetDevice(s, &d));"
        'std::printf("%u %d %d\\n", flags, p, d);'
        'SAY(cudaStreamGetFlags(0, &flags)); std::printf("%u\\n", flags);'
        "cudaStreamDestroy(s); SAY(cudaStreamGetPriority(s, &p)); SAY(cudaStreamGetFlags(0, nullptr));",
        "cudaSuccess\n" * 4 + "1 -5 0\ncudaSuccess\n0\n"
        "cudaErrorInvalidResourceHandle\ncudaErrorInvalidValue\n",
    ),
    "an event that was never recorded": Case(
        "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); float ms;"
        "SAY(cudaEventElapsedTime(&ms, a, b));",
        "cudaErrorInvalidResourceHandle\n",
        ("event-never-recorded",),
    ),
    "times are never nothing": Case(
        ARRAYS + "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);"
        "cudaEventRecord(a); cudaEventRecord(b); cudaEventSynchronize(b);"
        'float ms = 0; cudaEventElapsedTime(&ms, a, b); std::printf("%d\\n", ms > 0);',
        "1\n",
    ),
    "events that are recorded again": Case(
        "cudaEvent_t a, b, c; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventCreate(&c);"
        "for (int i = 0; i < 5000; ++i) { cudaEventRecord(i % 2 ? a : b); }"
        "cudaEventRecord(c, cudaStreamLegacy); cudaEventSynchronize(c); float ab, bc;"
        "SAY(cudaEventElapsedTime(&ab, b, a));"
        'SAY(cudaEventElapsedTime(&bc, b, c)); std::printf("%.3f %.3f\\n", ab, bc);',
        "cudaSuccess\ncudaSuccess\n0.001 0.002\n",
    ),
    "an event that is gone is not recorded": Case(
        "cudaEvent_t e; cudaStream_t s; cudaEventCreate(&e); cudaStreamCreate(&s);"
        "SAY(cudaEventRecord(e, s)); SAY(cudaStreamWaitEvent(s, e, 0));"
        "SAY(cudaEventRecord((cudaEvent_t)s)); SAY(cudaStreamDestroy(s));"
        "SAY(cudaEventRecord(e, s)); SAY(cudaEventDestroy(e)); SAY(cudaEventRecord(e));"
        "SAY(cudaEventCreate(&e)); SAY(cudaDeviceReset()); SAY(cudaEventRecord(e)); SAY(cudaGetLastError());",
        "cudaSuccess\ncudaSuccess\ncudaErrorInvalidResourceHandle\ncudaSuccess\n"
        "cudaErrorInvalidResourceHandle\ncudaSuccess\ncudaErrorInvalidResourceHandle\n"
        "cudaSuccess\ncudaSuccess\ncudaErrorInvalidResourceHandle\ncudaErrorInvalidResourceHandle\n",
    ),
    "events of a program that faults are sent before it ends": Case(
        "cudaEvent_t e; cudaEventCreate(&e); int *m; cudaMallocManaged(&m, 8); cudaMemsetAsync(m, 1, 8);"
        'cudaEventRecord(e); int early = m[0]; cudaEventRecord(e); std::printf("%x\\n", early);',
        "1010101\n",
        ("touched-early",),
    ),
    "objects that live longer than main": Case(
        "struct Timer { cudaEvent_t e; Timer() { cudaEventCreate(&e); cudaEventRecord(e); }"
        " ~Timer() { SAY(cudaEventRecord(e)); SAY(cudaEventDestroy(e)); } } timer; int main() {}",
        "cudaSuccess\ncudaSuccess\n",
    ),
    "streams that are gone": Case(
        "cudaStream_t s; SAY(cudaStreamCreate(&s)); SAY(cudaStreamSynchronize(s)); SAY(cudaStreamDestroy(s));"
        "SAY(cudaStreamSynchronize(s));",
        "cudaSuccess\ncudaSuccess\ncudaSuccess\ncudaErrorInvalidResourceHandle\n",
    ),
}
