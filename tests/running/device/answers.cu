// What the CUDA runtime answers, case by case: the test beside this file runs each on a GPU and on the emulator.
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define SAY(call) std::printf(#call ": %s\n", cudaGetErrorName(call))
#define LAST() (SAY(cudaPeekAtLastError()), SAY(cudaGetLastError()), SAY(cudaGetLastError()))

__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__managed__ int shared_by_both = 7;

__global__ void nothing() {}
__global__ void add(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] += table[threadIdx.x % 4]; }
__global__ void count() { atomicAdd(&counter, 1); shared_by_both += 1; }
__global__ void read(const int *p, int *q) { *q = *p; }
__global__ void dynamic(int *p) { extern __shared__ int s[]; s[threadIdx.x] = threadIdx.x; *p = s[0]; }
__global__ void much() { __shared__ int s[4096]; extern __shared__ int t[]; s[0] = t[0] = 1; }
__global__ void turn(int *p) {
    __shared__ int s[64]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void talk(int n) { std::printf("block %d of %d\n", blockIdx.x, n); }
__global__ void claim(int n) { assert(n < 0); }
__global__ void trap() { __trap(); }
__global__ void crooked(char *p) { *(int *)(p + 1) = 1; }
__global__ void __launch_bounds__(64) few(int *p) { *p = 1; }

static int h[1000];

#define CASE(name) static void name()
CASE(copies) {
    int *d, g[4] = {}; SAY(cudaMalloc(&d, sizeof g));
    h[2] = 9; SAY(cudaMemcpy(d, h, sizeof g, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(g, d, sizeof g, cudaMemcpyDefault)); std::printf("%d\n", g[2]);
    SAY(cudaMemcpy(d, d + 2, 8, cudaMemcpyDeviceToDevice)); SAY(cudaMemcpy(g, d, 4, cudaMemcpyDeviceToHost));
    std::printf("%d\n", g[0]); SAY(cudaMemcpy(h, g, 4, cudaMemcpyHostToHost)); SAY(cudaFree(d)); LAST();
}
CASE(wrong_direction) {
    int *d; cudaMalloc(&d, 64); SAY(cudaMemcpy(h, d, 64, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(d, h, 64, cudaMemcpyDeviceToHost)); LAST(); SAY(cudaDeviceSynchronize());
}
CASE(wrong_kind) { int *d; cudaMalloc(&d, 64); SAY(cudaMemcpy(d, h, 64, (cudaMemcpyKind)7)); LAST(); }
CASE(too_large) { int *d; cudaMalloc(&d, 1000); SAY(cudaMemcpy(d, h, 4000, cudaMemcpyHostToDevice)); LAST(); }
CASE(zero_bytes) {
    int *d = h; SAY(cudaMalloc(&d, 0)); std::printf("%d\n", d == nullptr); SAY(cudaFree(nullptr));
    SAY(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice)); SAY(cudaMemset(nullptr, 0, 0)); LAST();
}
CASE(null_pointers) {
    SAY(cudaMalloc((void **)nullptr, 4)); LAST(); int *d; cudaMalloc(&d, 4);
    SAY(cudaMemcpy(nullptr, h, 4, cudaMemcpyHostToDevice)); LAST(); SAY(cudaMemset(nullptr, 0, 4)); LAST();
}
CASE(freed_twice) { int *d; cudaMalloc(&d, 64); SAY(cudaFree(d)); SAY(cudaFree(d)); LAST(); SAY(cudaFree(h)); LAST(); }
CASE(freed_inside) { int *d; cudaMalloc(&d, 64); SAY(cudaFree(d + 1)); LAST(); SAY(cudaFreeHost(d)); LAST(); }
CASE(out_of_memory) { int *d; SAY(cudaMalloc(&d, size_t(1) << 45)); LAST(); SAY(cudaMalloc(&d, 4)); }
CASE(memset_of_parts) {
    int *d, g[4]; cudaMalloc(&d, 16); SAY(cudaMemset(d, 1, 16)); SAY(cudaMemset((char *)d + 5, 0xFF, 3));
    SAY(cudaMemcpy(g, d, 16, cudaMemcpyDeviceToHost)); std::printf("%x %x\n", g[0], g[1]);
    SAY(cudaMemset(d, 0, 17)); SAY(cudaMemset(h, 0, 16)); LAST();
}
CASE(pitched) {
    char *d, g[2][5] = {{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, r[2][5] = {}; size_t pitch;
    SAY(cudaMallocPitch(&d, &pitch, 5, 2)); std::printf("%zu\n", pitch);
    SAY(cudaMemcpy2D(d, pitch, g, 5, 5, 2, cudaMemcpyHostToDevice)); SAY(cudaMemset2D(d, pitch, 0, 2, 2));
    SAY(cudaMemcpy2D(r, 5, d, pitch, 5, 2, cudaMemcpyDeviceToHost)); std::printf("%d %d\n", r[0][1], r[1][4]);
    SAY(cudaMemcpy2D(r, 4, d, pitch, 5, 2, cudaMemcpyDeviceToHost)); LAST();
}
CASE(launches) {
    int *d; cudaMalloc(&d, 256); cudaMemset(d, 0, 256); add<<<1, 64>>>(d, 64); SAY(cudaDeviceSynchronize());
    cudaMemcpy(h, d, 256, cudaMemcpyDeviceToHost); std::printf("%d %d\n", h[0], h[63]); LAST();
}
CASE(too_many_threads) { nothing<<<1, 1025>>>(); LAST(); SAY(cudaDeviceSynchronize()); }
CASE(block_too_deep) { nothing<<<1, dim3(1, 1, 65)>>>(); LAST(); nothing<<<1, dim3(1, 1, 64)>>>(); LAST(); }
CASE(no_blocks) { nothing<<<0, 32>>>(); LAST(); nothing<<<1, 0>>>(); LAST(); SAY(cudaDeviceSynchronize()); }
CASE(grid_too_high) { nothing<<<dim3(1, 65536), 1>>>(); LAST(); nothing<<<dim3(1, 65535), 1>>>(); LAST(); }
CASE(launch_bounds) { int *d; cudaMalloc(&d, 4); few<<<1, 128>>>(d); LAST(); SAY(cudaDeviceSynchronize()); }
CASE(dynamic_shared) {
    int *d; cudaMalloc(&d, 4); dynamic<<<1, 4, 48 * 1024>>>(d); LAST(); dynamic<<<1, 4, 48 * 1024 + 1>>>(d); LAST();
    SAY(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    dynamic<<<1, 4, 64 * 1024>>>(d); LAST(); SAY(cudaDeviceSynchronize());
    SAY(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30)); LAST();
}
CASE(static_and_dynamic_shared) { much<<<1, 1, 32 * 1024>>>(); LAST(); much<<<1, 1, 40000>>>(); LAST(); }
CASE(host_pointer_in_kernel) {
    int *d; cudaMalloc(&d, 4); read<<<1, 1>>>((int *)nullptr, d); SAY(cudaPeekAtLastError());
    SAY(cudaDeviceSynchronize()); LAST(); SAY(cudaMalloc(&d, 4)); SAY(cudaFree(d)); SAY(cudaDeviceReset());
}
CASE(error_at_a_copy) {
    int *d; cudaMalloc(&d, 4); read<<<1, 1>>>((int *)nullptr, d); SAY(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost));
    nothing<<<1, 1>>>(); LAST(); SAY(cudaGetDeviceCount(h));
}
CASE(misaligned) { char *d; cudaMalloc(&d, 64); crooked<<<1, 1>>>(d); SAY(cudaDeviceSynchronize()); LAST(); }
CASE(assertion) { claim<<<1, 1>>>(1); SAY(cudaDeviceSynchronize()); LAST(); }
CASE(trapped) { trap<<<1, 1>>>(); SAY(cudaGetLastError()); SAY(cudaDeviceSynchronize()); LAST(); }
CASE(printed) { talk<<<2, 1>>>(2); SAY(cudaDeviceSynchronize()); std::printf("after\n"); }
CASE(printed_and_lost) { std::setvbuf(stdout, nullptr, _IONBF, 0); talk<<<1, 1>>>(1); std::_Exit(3); }
CASE(printed_at_the_end) { talk<<<1, 1>>>(1); }
CASE(printed_before_a_copy) { int *d; cudaMalloc(&d, 4); talk<<<1, 1>>>(1); cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost); std::printf("after\n"); }
CASE(symbols) {
    int g[4] = {5, 6, 7, 8}, *d; void *a; size_t n; SAY(cudaMemcpyToSymbol(table, g, 16)); SAY(cudaGetSymbolSize(&n, table));
    cudaMalloc(&d, 16); cudaMemset(d, 0, 16); add<<<1, 4>>>(d, 4); SAY(cudaMemcpy(g, d, 16, cudaMemcpyDeviceToHost));
    std::printf("%zu %d %d\n", n, g[0], g[3]); SAY(cudaMemcpyToSymbol(table, g, 4, 13)); SAY(cudaMemcpyToSymbol(table, g, 20)); LAST();
    SAY(cudaMemcpyFromSymbol(g, table, 4, 4)); std::printf("%d\n", g[0]); SAY(cudaGetSymbolAddress(&a, counter));
    SAY(cudaMemcpy(g, a, 4, cudaMemcpyDeviceToHost)); std::printf("%d\n", g[0]);
}
CASE(symbol_by_its_name) { SAY(cudaMemcpy(table, h, 16, cudaMemcpyHostToDevice)); LAST(); SAY(cudaMemcpyToSymbol(h, h, 4)); LAST(); }
CASE(variables) {
    count<<<2, 3>>>(); SAY(cudaDeviceSynchronize()); int n; SAY(cudaMemcpyFromSymbol(&n, counter, 4));
    std::printf("%d %d\n", n, shared_by_both > 7);
}
CASE(managed) {
    int *m; SAY(cudaMallocManaged(&m, 64)); m[3] = 4; add<<<1, 4>>>(m, 4); SAY(cudaDeviceSynchronize());
    std::printf("%d\n", m[3]); SAY(cudaFree(m)); SAY(cudaMallocManaged(&m, 0)); LAST();
}
CASE(pinned) {
    int *p, *d; SAY(cudaMallocHost(&p, 64)); p[1] = 3; SAY(cudaHostGetDevicePointer(&d, p, 0)); add<<<1, 2>>>(d, 2);
    SAY(cudaDeviceSynchronize()); std::printf("%d\n", p[1]); SAY(cudaFree(p)); LAST(); SAY(cudaFreeHost(p)); SAY(cudaFreeHost(p)); LAST();
}
CASE(attributes_of_pointers) {
    int *d, *p, *m; cudaMalloc(&d, 4); cudaMallocHost(&p, 4); cudaMallocManaged(&m, 4); cudaPointerAttributes a;
    for (int *q : {d, p, m, h}) { SAY(cudaPointerGetAttributes(&a, q)); std::printf("%d\n", a.type); }
}
CASE(streams) {
    cudaStream_t s; SAY(cudaStreamCreate(&s)); int *d; cudaMalloc(&d, 64); SAY(cudaMemsetAsync(d, 0, 64, s));
    add<<<1, 4, 0, s>>>(d, 4); SAY(cudaMemcpyAsync(h, d, 64, cudaMemcpyDeviceToHost, s)); SAY(cudaStreamSynchronize(s));
    SAY(cudaStreamQuery(s)); std::printf("%d\n", h[3]); SAY(cudaStreamDestroy(s)); SAY(cudaStreamDestroy(nullptr)); LAST();
}
CASE(events) {
    cudaEvent_t a, b; float ms = -1; SAY(cudaEventCreate(&a)); SAY(cudaEventCreate(&b)); SAY(cudaEventQuery(a));
    SAY(cudaEventElapsedTime(&ms, a, b)); LAST(); SAY(cudaEventRecord(a)); nothing<<<1, 1>>>(); SAY(cudaEventRecord(b));
    SAY(cudaEventSynchronize(b)); SAY(cudaEventElapsedTime(&ms, a, b)); std::printf("%d\n", ms > 0);
    SAY(cudaEventElapsedTime(nullptr, a, b)); LAST(); SAY(cudaEventDestroy(a));
}
CASE(events_without_time) {
    cudaEvent_t a, b; float ms; SAY(cudaEventCreateWithFlags(&a, cudaEventDisableTiming)); SAY(cudaEventCreate(&b));
    cudaEventRecord(a); cudaEventRecord(b); SAY(cudaDeviceSynchronize()); SAY(cudaEventElapsedTime(&ms, a, b)); LAST();
    SAY(cudaEventCreateWithFlags(&a, 99)); LAST(); cudaStream_t s; cudaStreamCreate(&s); SAY(cudaStreamWaitEvent(s, b, 0));
}
CASE(devices) {
    int n; SAY(cudaGetDevice(&n)); std::printf("%d\n", n); SAY(cudaSetDevice(0)); SAY(cudaSetDevice(99)); LAST();
    SAY(cudaSetDevice(-1)); LAST(); cudaDeviceProp p; SAY(cudaGetDeviceProperties(&p, 99)); LAST();
    SAY(cudaGetDeviceProperties(&p, 0)); std::printf("%d %d %d\n", p.warpSize, p.maxThreadsPerBlock, p.maxGridSize[1]);
    SAY(cudaDeviceGetAttribute(&n, cudaDevAttrMaxThreadsPerBlock, 0)); std::printf("%d\n", n);
    SAY(cudaDeviceGetAttribute(&n, (cudaDeviceAttr)9999, 0)); LAST();
}
CASE(reset) { int *d; cudaMalloc(&d, 64); SAY(cudaDeviceReset()); SAY(cudaMemcpy(d, h, 4, cudaMemcpyHostToDevice)); LAST(); SAY(cudaMalloc(&d, 4)); }
CASE(asynchronous_memory) {
    int *d; SAY(cudaMallocAsync(&d, 64, 0)); SAY(cudaMemsetAsync(d, 0, 64)); SAY(cudaFreeAsync(d, 0)); SAY(cudaDeviceSynchronize()); LAST();
}
CASE(not_a_kernel) { SAY(cudaLaunchKernel((void *)h, 1, 1, nullptr, 0, 0)); LAST(); cudaFuncAttributes a; SAY(cudaFuncGetAttributes(&a, (void *)h)); LAST(); }
CASE(launched_by_the_call) {
    int *d, n = 4; cudaMalloc(&d, 16); cudaMemset(d, 0, 16); void *arguments[] = {&d, &n};
    SAY(cudaLaunchKernel((void *)add, 1, 4, arguments, 0, 0)); SAY(cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost)); std::printf("%d\n", h[3]);
}
CASE(attributes_of_kernels) {
    cudaFuncAttributes a; SAY(cudaFuncGetAttributes(&a, turn)); std::printf("%zu\n", a.sharedSizeBytes);
    SAY(cudaFuncGetAttributes(&a, few)); std::printf("%d\n", a.maxThreadsPerBlock);
}
CASE(names_and_texts) {
    for (int code = 0; code < 1100; ++code)
        std::printf("%s|%s\n", cudaGetErrorName((cudaError_t)code), cudaGetErrorString((cudaError_t)code));
}
CASE(versions) { int n; SAY(cudaRuntimeGetVersion(&n)); std::printf("%d\n", n / 1000); SAY(cudaDriverGetVersion(&n)); }
CASE(exits) { int *d; cudaMalloc(&d, 4); std::exit(5); }
CASE(aborts) { int *d; cudaMalloc(&d, 4); std::abort(); }
CASE(registered) {
    static int page[4096]; SAY(cudaHostRegister(page, sizeof page, 0)); SAY(cudaHostUnregister(page)); SAY(cudaHostUnregister(page)); LAST();
}
CASE(graphs) {
    cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t); int *d, *e; cudaMalloc(&d, 64), cudaMalloc(&e, 64);
    cudaEvent_t fork, join; cudaEventCreate(&fork), cudaEventCreate(&join); cudaGraph_t g; cudaGraphExec_t x; size_t n;
    cudaMemset(d, 0, 64), cudaMemset(e, 0, 64); SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SAY(cudaEventRecord(fork, s)); SAY(cudaStreamWaitEvent(t, fork, 0)); add<<<1, 4, 0, t>>>(e, 4); SAY(cudaEventRecord(join, t));
    add<<<1, 4, 0, s>>>(d, 4); SAY(cudaStreamWaitEvent(s, join, 0)); SAY(cudaMemcpyAsync(e + 4, d, 16, cudaMemcpyDefault, s));
    SAY(cudaStreamEndCapture(s, &g)); SAY(cudaGraphGetNodes(g, nullptr, &n)); std::printf("%zu\n", n);
    SAY(cudaGraphInstantiate(&x, g, 0)); SAY(cudaGraphDestroy(g)); SAY(cudaGraphLaunch(x, t)); SAY(cudaGraphLaunch(x, s));
    SAY(cudaStreamSynchronize(s)); SAY(cudaMemcpy(h, e, 32, cudaMemcpyDeviceToHost)); std::printf("%d %d\n", h[3], h[7]);
    SAY(cudaGraphExecDestroy(x)); LAST();
}
CASE(capture_and_the_default_stream) {
    cudaStream_t s; cudaStreamCreate(&s); int *d; cudaMalloc(&d, 64); cudaGraph_t g; cudaStreamCaptureStatus status;
    SAY(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal)); SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); add<<<1, 4>>>(d, 4); LAST(); add<<<1, 4, 0, s>>>(d, 4); LAST();
    SAY(cudaStreamIsCapturing(s, &status)); std::printf("%d\n", status); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaStreamEndCapture(s, &g)); std::printf("%d\n", g == nullptr);
}
CASE(waits_in_a_capture) {
    cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t); cudaEvent_t e; cudaEventCreate(&e); cudaGraph_t g;
    SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); SAY(cudaStreamSynchronize(s)); SAY(cudaStreamEndCapture(s, &g));
    SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); SAY(cudaDeviceSynchronize()); SAY(cudaStreamEndCapture(s, &g));
    cudaEventRecord(e, t); SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); SAY(cudaStreamWaitEvent(s, e, 0));
    SAY(cudaStreamEndCapture(s, &g)); LAST();
}
CASE(a_capture_that_is_not_joined) {
    cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t); cudaEvent_t e; cudaEventCreate(&e); cudaGraph_t g;
    int *d; cudaMalloc(&d, 64); SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); SAY(cudaEventRecord(e, s));
    SAY(cudaStreamWaitEvent(t, e, 0)); SAY(cudaMemsetAsync(d, 0, 64, t)); SAY(cudaStreamEndCapture(t, &g));
    SAY(cudaStreamEndCapture(s, &g)); LAST();
}

#define ONE(name) if (!std::strcmp(words[1], #name)) name();
int main(int number, char **words) {
    if (number != 2) return 2;
    ONE(copies) ONE(wrong_direction) ONE(wrong_kind) ONE(too_large) ONE(zero_bytes) ONE(null_pointers) ONE(freed_twice)
    ONE(freed_inside) ONE(out_of_memory) ONE(memset_of_parts) ONE(pitched) ONE(launches) ONE(too_many_threads)
    ONE(block_too_deep) ONE(no_blocks) ONE(grid_too_high) ONE(launch_bounds) ONE(dynamic_shared)
    ONE(static_and_dynamic_shared) ONE(host_pointer_in_kernel) ONE(error_at_a_copy) ONE(misaligned) ONE(assertion)
    ONE(trapped) ONE(printed) ONE(printed_and_lost) ONE(printed_at_the_end) ONE(printed_before_a_copy) ONE(symbols)
    ONE(symbol_by_its_name) ONE(variables) ONE(managed) ONE(pinned) ONE(attributes_of_pointers) ONE(streams) ONE(events)
    ONE(events_without_time) ONE(devices) ONE(reset) ONE(asynchronous_memory) ONE(not_a_kernel)
    ONE(launched_by_the_call) ONE(attributes_of_kernels) ONE(names_and_texts) ONE(versions) ONE(exits) ONE(aborts)
    ONE(registered) ONE(graphs) ONE(capture_and_the_default_stream) ONE(waits_in_a_capture)
    ONE(a_capture_that_is_not_joined)
}
