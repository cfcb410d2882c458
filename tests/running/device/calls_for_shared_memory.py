"""Calls for memory that the host and the device share: managed, pinned, of files."""

from __future__ import annotations

from tests.running.device.call_case import ARRAYS, Case

_BIG = (
    "float *d, *p; int n = 100000; cudaMalloc(&d, 4 * n); cudaMallocHost((void **)&p, 4 * n);"
    "for (int i = 0; i < n; ++i) p[i] = i; cudaMemcpy(d, p, 4 * n, cudaMemcpyHostToDevice);"
)

CALLS_FOR_SHARED_MEMORY = {
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
        ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h); cudaEvent_t e; cudaEventCreate(&e);"
        "cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);"
        "cudaMemcpyAsync(p, d, sizeof h, cudaMemcpyDeviceToHost); cudaEventRecord(e);"
        "cudaEventSynchronize(e);"
        'std::printf("%g\\n", p[1]);',
        "2\n",
    ),
    "pinned memory while another copy runs": Case(
        ARRAYS + "float *p, *q; cudaMallocHost((void **)&p, sizeof h); cudaMallocHost((void **)&q, sizeof h);"
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
        ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h);"
        "cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);"
        "cudaMemcpyAsync(p, d, sizeof h, cudaMemcpyDeviceToHost); float early = p[1];"
        'cudaDeviceSynchronize(); std::printf("%g\\n", early);',
        "2\n",
        ("touched-early",),
    ),
    "pinned memory overwritten while it is copied": Case(
        ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h); p[1] = 3;"
        "cudaMemcpyAsync(d, p, sizeof h, cudaMemcpyHostToDevice); float before = p[1]; p[1] = 4;"
        'cudaDeviceSynchronize(); std::printf("%g %g\\n", before, p[1]);',
        "3 4\n",
        ("touched-early",),
    ),
    "pinned memory overwritten once it is copied": Case(
        ARRAYS + "float *p; cudaMallocHost((void **)&p, sizeof h); p[1] = 3; cudaStream_t s;"
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
}
