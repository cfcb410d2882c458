"""Calls for memory of the device, copies there and back, and what a device has once."""

from __future__ import annotations

from tests.running.device.call_case import ARRAYS, Case

CALLS_FOR_MEMORY = {
    "a copy there and back": Case(
        ARRAYS + "SAY(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice)); h[1] = 0;"
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
        ARRAYS + "SAY(cudaMemcpy(h, d, sizeof h, cudaMemcpyHostToDevice));"
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
        ARRAYS + "cudaMemcpy(d, h, 400, cudaMemcpyHostToDevice);"
        "SAY(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));",
        "cudaSuccess\n",
        ("never-written",),
    ),
    "a copy of as many bytes as a pointer has": Case(
        ARRAYS + "SAY(cudaMemcpy(d, h, sizeof d, cudaMemcpyHostToDevice));",
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
        ARRAYS + "SAY(cudaMemset(d, 1000, sizeof h)); SAY(cudaMemset(d, -129, 4));",
        "cudaSuccess\ncudaSuccess\n",
        ("memset-of-elements", "memset-of-elements"),
    ),
    "memory that is set to bytes": Case(
        ARRAYS + "cudaMemset(d, -1, 4); cudaMemset(d, 255, 4); cudaMemset(d, 0x3f3f3f3f, sizeof h);"
        'cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost); std::printf("%g\\n", h[7]);',
        "0.747059\n",
    ),
    "memory that is freed twice": Case(
        ARRAYS + "SAY(cudaFree(d)); SAY(cudaFree(d));",
        "cudaSuccess\ncudaErrorInvalidValue\n",
        ("freed-twice",),
    ),
    "host memory that is freed": Case(
        ARRAYS + "SAY(cudaFree(h)); SAY(cudaFree(d + 1));",
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
    "peers of the only device": Case(
        ARRAYS
        + "int can = 1; SAY(cudaDeviceCanAccessPeer(&can, 0, 0)); SAY(cudaDeviceEnablePeerAccess(0, 0));"
        "SAY(cudaDeviceEnablePeerAccess(0, 1)); SAY(cudaDeviceDisablePeerAccess(1));"
        "int only[] = {0, 1}; SAY(cudaSetValidDevices(only, 1)); SAY(cudaSetValidDevices(only, 2));"
        'std::printf("%d\\n", can);',
        "cudaSuccess\ncudaErrorInvalidDevice\ncudaErrorInvalidValue\ncudaErrorInvalidDevice\n"
        "cudaSuccess\ncudaErrorInvalidValue\n0\n",
    ),
    "a copy between peers": Case(
        ARRAYS + "cudaMemcpy(d, h, 12, cudaMemcpyHostToDevice);"
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
    "after a reset arrays are gone": Case(
        ARRAYS + "SAY(cudaDeviceReset()); SAY(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));",
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
