"""What a program gets from the runtime's calls, and what is noted of its mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from grader.device.streams import Work, WorkKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.device.hosts import Ran

_ARRAYS = "float h[1000] = {1, 2, 3}; float *d; cudaMalloc(&d, sizeof h);"


_BIG = (
    "float *d, *p; int n = 100000; cudaMalloc(&d, 4 * n); cudaMallocHost((void **)&p, 4 * n);"
    "for (int i = 0; i < n; ++i) p[i] = i; cudaMemcpy(d, p, 4 * n, cudaMemcpyHostToDevice);"
)
_CHUNKS = (
    "float *d, *p; cudaMalloc(&d, 800); cudaMallocHost((void **)&p, 800); cudaStream_t s[2];"
    "cudaStreamCreate(s), cudaStreamCreate(s + 1); for (int i = 0; i < 200; ++i) p[i] = 1;"
    "cudaMemcpy(d, p, 800, cudaMemcpyHostToDevice); for (int j = 0; j < 2; ++j)"
    "cudaMemcpyAsync(p + 100 * j, d + 100 * j, 400, cudaMemcpyDeviceToHost, s[j]);"
)
"""Two halves of pinned memory that copies in two streams write."""


class Case(NamedTuple):
    """The body of a program, what it prints, and the codes of its mistakes."""

    body: str
    printed: str
    mistakes: tuple[str, ...] = ()


CASES = {
    "a copy there and back": Case(
        _ARRAYS + "SAY(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice)); h[1] = 0;"
        'SAY(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost)); std::printf("%g\\n", h[1]);'
        "SAY(cudaFree(d));",
        "cudaSuccess\ncudaSuccess\n2\ncudaSuccess\n",
    ),
    "rows with a pitch": Case(
        "char h[2][3] = {{1, 2, 3}, {4, 5, 6}}, g[2][4] = {}; void *d; size_t p;"
        'SAY(cudaMallocPitch(&d, &p, 3, 2)); std::printf("%zu\\n", p);'
        "SAY(cudaMemcpy2D(d, p, h, 3, 3, 2, cudaMemcpyHostToDevice));"
        "SAY(cudaMemcpy2D(g, 4, d, p, 3, 2, cudaMemcpyDeviceToHost));"
        'std::printf("%d %d %d\\n", g[0][2], g[0][3], g[1][0]); cudaFree(d);',
        "cudaSuccess\n512\ncudaSuccess\ncudaSuccess\n3 0 4\n",
    ),
    "a copy in the wrong direction": Case(
        _ARRAYS + "SAY(cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice));"
        "SAY(cudaMemcpy(d, h, sizeof h, cudaMemcpyDeviceToHost));"
        "SAY(cudaGetLastError()); SAY(cudaGetLastError());",
        "cudaErrorInvalidValue\ncudaErrorInvalidValue\ncudaErrorInvalidValue\ncudaSuccess\n",
        ("wrong-direction", "wrong-direction"),
    ),
    "a copy of more than there is": Case(
        "float h[1000]; float *d; cudaMalloc(&d, 1000);"
        "SAY(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));",
        "cudaErrorInvalidValue\n",
        ("copy-too-large",),
    ),
    "a copy of what nobody wrote": Case(
        _ARRAYS + "cudaMemcpy(d, h, 400, cudaMemcpyHostToDevice);"
        "SAY(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));",
        "cudaSuccess\n",
        ("never-written",),
    ),
    "a copy of as many bytes as a pointer has": Case(
        _ARRAYS + "SAY(cudaMemcpy(d, h, sizeof d, cudaMemcpyHostToDevice));",
        "cudaSuccess\n",
        ("pointer-sized-copy",),
    ),
    "a pointer that a struct gets after the rest": Case(
        "struct Element { char *name; long value; } e = {nullptr, 3}, *d; char *name;"
        "cudaMalloc(&d, sizeof e); cudaMalloc(&name, 8); cudaMemcpy(d, &e, sizeof e, cudaMemcpyHostToDevice);"
        "SAY(cudaMemcpy(&d->name, &name, sizeof name, cudaMemcpyHostToDevice));",
        "cudaSuccess\n",
    ),
    "memory that is set to what is no byte": Case(
        _ARRAYS + "SAY(cudaMemset(d, 1000, sizeof h)); SAY(cudaMemset(d, -129, 4));",
        "cudaSuccess\ncudaSuccess\n",
        ("memset-of-elements", "memset-of-elements"),
    ),
    "memory that is set to bytes": Case(
        _ARRAYS + "cudaMemset(d, -1, 4); cudaMemset(d, 255, 4); cudaMemset(d, 0x3f3f3f3f, sizeof h);"
        'cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); std::printf("%g\\n", h[7]);',
        "0.747059\n",
    ),
    "memory that is freed twice": Case(
        _ARRAYS + "SAY(cudaFree(d)); SAY(cudaFree(d));",
        "cudaSuccess\ncudaErrorInvalidValue\n",
        ("freed-twice",),
    ),
    "host memory that is freed": Case(
        _ARRAYS + "SAY(cudaFree(h)); SAY(cudaFree(d + 1));",
        "cudaErrorInvalidValue\ncudaErrorInvalidValue\n",
        ("free-of-host", "free-inside"),
    ),
    "more memory than there is": Case(
        "void *d; SAY(cudaMalloc(&d, size_t{1} << 40)); SAY(cudaGetLastError());",
        "cudaErrorMemoryAllocation\ncudaErrorMemoryAllocation\n",
        ("out-of-memory",),
    ),
    "nothing is asked for": Case(
        'void *d = &d; SAY(cudaMalloc(&d, 0)); std::printf("%p\\n", d); SAY(cudaFree(nullptr));',
        "cudaSuccess\n(nil)\ncudaSuccess\n",
    ),
    "managed memory on both sides": Case(
        "int *m; SAY(cudaMallocManaged(&m, 8000)); m[0] = 7; m[1999] = 8; SAY(cudaMemset(m, 1, 4));"
        'SAY(cudaDeviceSynchronize()); std::printf("%x %d\\n", m[0], m[1999]); SAY(cudaFree(m));',
        "cudaSuccess\ncudaSuccess\ncudaSuccess\n1010101 8\ncudaSuccess\n",
    ),
    "managed memory before waiting": Case(
        "int *m; cudaMallocManaged(&m, 8000); cudaMemsetAsync(m, 1, 8000); int early = m[5];"
        'cudaDeviceSynchronize(); std::printf("%x\\n", early);',
        "1010101\n",
        ("touched-early",),
    ),
    "managed memory that the host updates atomically meanwhile": Case(
        "int *m; cudaMallocManaged(&m, 8000); cudaMemsetAsync(m, 1, 8000);"
        "__sync_fetch_and_add(m + 5, 1); cudaMemsetAsync(m + 6, 1, 4); __sync_lock_test_and_set(m + 7, 2);"
        'cudaDeviceSynchronize(); std::printf("%x %d\\n", m[5], m[7]);',
        "1010102 2\n",
    ),
    "managed memory that was filled": Case(
        'int *m; cudaMallocManaged(&m, 8000); cudaMemset(m, 1, 8000); std::printf("%x\\n", m[5]);',
        "1010101\n",
    ),
    "managed memory after its stream": Case(
        "int *m; cudaStream_t s; cudaStreamCreate(&s); cudaMallocManaged(&m, 8000);"
        'cudaMemsetAsync(m, 1, 8000, s); cudaStreamSynchronize(s); std::printf("%x\\n", m[5]);',
        "1010101\n",
    ),
    "pinned memory after its event": Case(
        _ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h); cudaEvent_t e; cudaEventCreate(&e);"
        "cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);"
        "cudaMemcpyAsync(p, d, sizeof h, cudaMemcpyDeviceToHost); cudaEventRecord(e);"
        "cudaEventSynchronize(e);"
        'std::printf("%g\\n", p[1]);',
        "2\n",
    ),
    "pinned memory while another copy runs": Case(
        _ARRAYS
        + "float *p, *q; cudaMallocHost((void **)&p, sizeof h); cudaMallocHost((void **)&q, sizeof h);"
        "p[0] = 5;"
        "cudaMemcpyAsync(d, p, sizeof h, cudaMemcpyHostToDevice); q[0] = 6;"
        'cudaDeviceSynchronize(); std::printf("%g %g\\n", p[0], q[0]);',
        "5 6\n",
    ),
    "memory of a pool": Case(
        "cudaMemPool_t pool, own; cudaDeviceGetDefaultMemPool(&pool, 0); unsigned long long keep = 1 << 20;"
        "cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep); keep = 0;"
        "cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);"
        "cudaMemPoolProps wanted{}; wanted.allocType = cudaMemAllocationTypePinned;"
        "wanted.location = {cudaMemLocationTypeDevice, 0}; int *d, h;"
        "bool made = !cudaMemPoolCreate(&own, &wanted);"
        "cudaMallocFromPoolAsync((void **)&d, 4, own, 0); cudaMemsetAsync(d, 1, 4, 0);"
        "cudaMemcpyAsync(&h, d, 4, cudaMemcpyDeviceToHost, 0); cudaFreeAsync(d, 0); cudaStreamSynchronize(0);"
        "bool gone = !cudaMemPoolTrimTo(own, 0) && !cudaMemPoolDestroy(own);"
        'std::printf("%llu %x %d %d %d\\n", keep, h, made, gone, (int)cudaMemPoolDestroy(own));',
        "1048576 1010101 1 1 1\n",
    ),
    "pinned memory before its copy is done": Case(
        _ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h);"
        "cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);"
        "cudaMemcpyAsync(p, d, sizeof h, cudaMemcpyDeviceToHost); float early = p[1];"
        'cudaDeviceSynchronize(); std::printf("%g\\n", early);',
        "2\n",
        ("touched-early",),
    ),
    "pinned memory overwritten while it is copied": Case(
        _ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h); p[1] = 3;"
        "cudaMemcpyAsync(d, p, sizeof h, cudaMemcpyHostToDevice); float before = p[1]; p[1] = 4;"
        'cudaDeviceSynchronize(); std::printf("%g %g\\n", before, p[1]);',
        "3 4\n",
        ("touched-early",),
    ),
    "pinned memory overwritten once it is copied": Case(
        _ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h); p[1] = 3; cudaStream_t s;"
        "cudaStreamCreate(&s); cudaMemcpyAsync(d, p, sizeof h, cudaMemcpyHostToDevice, s);"
        "float before = p[1]; cudaStreamSynchronize(s); p[1] = 4;"
        "cudaMemcpy(d, p, sizeof h, cudaMemcpyHostToDevice); p[1] = 5;"
        'std::printf("%g %g\\n", before, p[1]);',
        "3 5\n",
    ),
    "halves of pinned memory take turns": Case(
        "float *d, *p; cudaMalloc(&d, 800); cudaMallocHost((void **)&p, 800); cudaStream_t s[2];"
        "cudaStreamCreate(s), cudaStreamCreate(s + 1); cudaMemset(d, 0, 800);"
        "for (int i = 0; i < 100; ++i) p[i] = i;"
        "cudaMemcpyAsync(d, p, 400, cudaMemcpyHostToDevice, s[0]);"
        "for (int i = 100; i < 200; ++i) p[i] = i;"
        "cudaMemcpyAsync(d + 100, p + 100, 400, cudaMemcpyHostToDevice, s[1]); cudaDeviceSynchronize();"
        "cudaMemcpyAsync(p + 100, d, 400, cudaMemcpyDeviceToHost, s[1]); float first = p[99];"
        'cudaDeviceSynchronize(); std::printf("%g %g\\n", first, p[101]);',
        "99 1\n",
    ),
    "a file is written from pinned memory, and read into it": Case(
        _BIG + "cudaMemcpyAsync(p, d, 4 * n, cudaMemcpyDeviceToHost); cudaDeviceSynchronize();"
        'FILE *f = std::tmpfile(); std::printf("%zu\\n", std::fwrite(p, 4, n, f)); std::rewind(f);'
        "cudaMemcpy(d, p, 4 * n, cudaMemcpyHostToDevice); for (int i = 0; i < n; ++i) p[i] = 0;"
        "cudaMemcpy(p + 1, d, 4, cudaMemcpyDeviceToHost);"
        'size_t got = std::fread(p, 4, n, f); std::printf("%zu %g %g\\n", got, p[1], p[n - 1]);',
        "100000\n100000 1 99999\n",
    ),
    "system calls reach shared memory": Case(
        _BIG + "int ends[2]; if (pipe(ends)) return 1; iovec part{p + 1, 8};"
        "cudaMemcpy(p, d, 4 * n, cudaMemcpyDeviceToHost);"
        'std::printf("%zd ", write(ends[1], p + 8, 8)); cudaMemcpy(p, d, 4, cudaMemcpyDeviceToHost);'
        'std::printf("%zd ", writev(ends[1], &part, 1)); cudaMemcpy(p, d, 4, cudaMemcpyDeviceToHost);'
        'std::printf("%zd ", read(ends[0], p, 4)); cudaMemcpy(d, p, 4, cudaMemcpyHostToDevice);'
        'part.iov_len = 4; std::printf("%zd ", readv(ends[0], &part, 1));'
        'cudaMemcpy(p + 9, d, 4, cudaMemcpyDeviceToHost); std::printf("%g %g %g\\n", p[0], p[1], p[9]);',
        "8 8 4 4 8 9 8\n",
    ),
    "a stream of C++ writes managed memory": Case(
        "#include <fstream>\nint main() { char *m; int n = 100000; cudaMallocManaged(&m, n);"
        "cudaMemset(m, 65, n); cudaDeviceSynchronize();"
        'std::ofstream file("managed.txt", std::ios::binary); file.write(m, n); file.close();'
        'std::printf("%d\\n", (bool)file); cudaMemset(m, 66, n); cudaDeviceSynchronize();'
        'std::ifstream again("managed.txt", std::ios::binary); again.read(m, n);'
        'std::printf("%d %c\\n", (bool)again, m[n - 1]); std::remove("managed.txt"); }',
        "1\n1 A\n",
    ),
    "pinned memory is written to a file while a copy to it runs": Case(
        _BIG + "cudaMemcpyAsync(p + 5000, d, 4, cudaMemcpyDeviceToHost);"
        'FILE *f = std::tmpfile(); std::printf("%zu\\n", std::fwrite(p, 4, n, f));',
        "100000\n",
        ("touched-early",),
    ),
    "pinned memory is written to a file beside where a copy goes": Case(
        _BIG + "cudaMemcpyAsync(p + 5000, d, 4, cudaMemcpyDeviceToHost);"
        'FILE *f = std::tmpfile(); std::printf("%zu\\n", std::fwrite(p, 4, 5000, f));',
        "5000\n",
    ),
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
        _ARRAYS + "int *m; cudaMallocManaged(&m, 400); cudaStream_t s; cudaStreamCreate(&s); int g[100];"
        "cudaMemsetAsync(m, 1, 400, s); cudaMemcpyAsync(g, m, 400, cudaMemcpyDeviceToHost, s);"
        'std::printf("%x %x\\n", g[5], m[5]);',
        "1010101 1010101\n",
    ),
    "managed memory after a waiting copy": Case(
        _ARRAYS + "int *m; cudaMallocManaged(&m, 400); cudaMemsetAsync(m, 1, 400);"
        "cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice); "
        'std::printf("%x\\n", m[5]);',
        "1010101\n",
    ),
    "peers of the only device": Case(
        _ARRAYS
        + "int can = 1; SAY(cudaDeviceCanAccessPeer(&can, 0, 0)); SAY(cudaDeviceEnablePeerAccess(0, 0));"
        "SAY(cudaDeviceEnablePeerAccess(0, 1)); SAY(cudaDeviceDisablePeerAccess(1));"
        "int only[] = {0, 1}; SAY(cudaSetValidDevices(only, 1)); SAY(cudaSetValidDevices(only, 2));"
        'std::printf("%d\\n", can);',
        "cudaSuccess\ncudaErrorInvalidDevice\ncudaErrorInvalidValue\ncudaErrorInvalidDevice\n"
        "cudaSuccess\ncudaErrorInvalidValue\n0\n",
    ),
    "a copy between peers": Case(
        _ARRAYS + "cudaMemcpy(d, h, 12, cudaMemcpyHostToDevice);"
        "SAY(cudaMemcpyPeerAsync(d + 3, 0, d, 0, 12, 0));"
        "cudaMemcpy(h + 10, d + 3, 12, cudaMemcpyDeviceToHost);"
        'std::printf("%g %g\\n", h[10], h[12]);',
        "cudaSuccess\n1 3\n",
    ),
    "planes with a pitch": Case(
        "char h[2][3][4] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, g[2][3][4] = {}; cudaPitchedPtr d;"
        "cudaExtent all{4, 3, 2}, part{2, 2, 2};"
        "SAY(cudaMalloc3D(&d, all)); SAY(cudaMemset3D(d, 9, all)); cudaMemcpy3DParms p = {};"
        "p.srcPtr = {h, 4, 4, 3}; p.dstPtr = d; p.extent = part;"
        "p.dstPos = {1, 1, 0}; p.kind = cudaMemcpyHostToDevice; SAY(cudaMemcpy3D(&p));"
        "cudaMemcpy3DParms q = {}; q.srcPtr = d; q.dstPtr = {g, 4, 4, 3}; q.extent = all;"
        "q.kind = cudaMemcpyDeviceToHost; SAY(cudaMemcpy3DAsync(&q, 0)); cudaDeviceSynchronize();"
        "for (auto &plane : g) for (auto &row : plane) for (char value : row) std::putchar(value + 48);"
        'p.dstPos.y = 2; puts(""); SAY(cudaMemcpy3D(&p)); SAY(cudaMemcpy3D(nullptr));',
        "cudaSuccess\ncudaSuccess\ncudaSuccess\ncudaSuccess\n999991299349999995699789\n"
        "cudaErrorInvalidValue\ncudaErrorInvalidValue\n",
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
    "limits of the device": Case(
        "auto get = [](cudaLimit which) { size_t n; cudaDeviceGetLimit(&n, which); return n; };"
        "SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));"
        "SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 32));"
        "SAY(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1000));"
        "SAY(cudaDeviceSetLimit(cudaLimitStackSize, 1000));"
        "SAY(cudaDeviceSetLimit(cudaLimitStackSize, size_t{1} << 32));"
        "SAY(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));"
        'std::printf("%zu %zu ", get(cudaLimitMallocHeapSize), get(cudaLimitStackSize));'
        'std::printf("%zu\\n", get(cudaLimitPrintfFifoSize)); cudaDeviceReset();'
        'std::printf("%zu\\n", get(cudaLimitMallocHeapSize));',
        "cudaSuccess\ncudaSuccess\ncudaSuccess\ncudaSuccess\ncudaErrorInvalidValue\ncudaSuccess\n"
        "4194304 1008 2097152\n8388608\n",
    ),
    "an event that was never recorded": Case(
        "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); float ms;"
        "SAY(cudaEventElapsedTime(&ms, a, b));",
        "cudaErrorInvalidResourceHandle\n",
        ("event-never-recorded",),
    ),
    "times are never nothing": Case(
        _ARRAYS + "cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);"
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
    "after a reset arrays are gone": Case(
        _ARRAYS + "SAY(cudaDeviceReset()); SAY(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));",
        "cudaSuccess\ncudaErrorInvalidValue\n",
        ("copy-of-freed",),
    ),
    "a child of the process has no device": Case(
        "void *d; cudaMalloc(&d, 4); std::fflush(stdout);"
        "if (!fork()) { SAY(cudaMalloc(&d, 4)); std::fflush(stdout);"
        " _exit(0); } sleep(1); SAY(cudaMalloc(&d, 4));",
        "cudaErrorInitializationError\ncudaSuccess\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_call_does_what_a_device_does(run_host: Callable[..., Ran], name: str) -> None:
    """Codes, data, and the mistakes that are noted."""
    case = CASES[name]
    ran = run_host(case.body)
    assert (ran.stdout, ran.mistakes, ran.returncode, ran.cut) == (case.printed, list(case.mistakes), 0, "")


@pytest.mark.parametrize(
    ("body", "code", "offset"),
    [
        (_ARRAYS + "d[3] = 1;", "device-pointer-on-host", 12),
        (_ARRAYS + 'std::memcpy(h, d + 1, 40); std::printf("%g", h[3]);', "device-pointer-on-host", 4),
        (_ARRAYS + "cudaFree(d); return (int)d[0];", "freed-pointer-on-host", 0),
        ("volatile int *p = nullptr; return *p;", "host-fault", 0),
        (_ARRAYS + "cudaMemcpy(nullptr, d, 16, cudaMemcpyDeviceToHost);", "host-fault", 0),
    ],
)
def test_a_fault_of_the_host_is_told_with_its_address(
    run_host: Callable[..., Ran], body: str, code: str, offset: int
) -> None:
    """It ends the program as it would without us."""
    ran = run_host("void *any; cudaMalloc(&any, 4);" + body)
    mistake = ran.device.mistakes[-1]
    assert (str(mistake.code), dict(mistake.details)["offset"], ran.returncode) == (code, offset, -11)
    assert len(mistake.callers) > 1


def test_a_function_that_is_missing_ends_the_program_and_is_named(run_host: Callable[..., Ran]) -> None:
    """What it printed before is not lost."""
    ran = run_host('void *any; cudaMalloc(&any, 4); std::printf("before"); cudaDestroyTextureObject(0);')
    assert (ran.mistakes, ran.returncode, ran.stdout) == (["unsupported"], 98, "before")
    assert dict(ran.device.mistakes[0].details) == {"name": "cudaDestroyTextureObject"}


@pytest.mark.parametrize(
    ("memory", "staged"),
    [
        ("std::malloc(80)", True),
        ("pinned", False),
        ("managed", False),
        ("registered", False),
        ("registered + 9", False),
        ("(char *)registered + 38", True),
        ("registered + 10", True),
    ],
)
def test_copies_overlap_where_memory_is_pinned(
    run_host: Callable[..., Ran], memory: str, *, staged: bool
) -> None:
    """Allocated so, registered, or managed; other copies go through a buffer of the driver."""
    ran = run_host(
        "float *d, *pinned, *managed; auto registered = (float *)std::malloc(80); cudaMalloc(&d, 80);"
        "cudaMallocHost((void **)&pinned, 80); cudaMallocManaged(&managed, 80);"
        "cudaHostRegister(registered, 40, 0); cudaStream_t s; cudaStreamCreate(&s);"
        f"cudaMemcpyAsync(d, {memory}, 4, cudaMemcpyHostToDevice, s);"
    )
    order = ran.device.order
    order.add(next(iter(ran.device.streams)), Work(WorkKind.KERNEL, 1, ()))
    assert (order.overlapping, order.staged) == (int(not staged), int(staged))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("void *d; cudaMalloc(&d, size_t{1} << 40); cudaSetDevice(7);", 2),
        ("cudaSetDevice(7); void *d; cudaMalloc(&d, size_t{1} << 40);", 101),
        ("void *d; cudaMalloc(&d, 4); cudaFree(d); cudaStreamQuery(0);", None),
    ],
)
def test_the_first_call_that_fails_is_kept(run_host: Callable[..., Ran], body: str, code: int | None) -> None:
    """One that fails without the device, too."""
    failure = run_host(body).device.first_failure
    assert (failure and failure.code) == code
    assert failure is None or failure.caller
