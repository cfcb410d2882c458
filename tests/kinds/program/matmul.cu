// Programs that write C = A · B to C.npy. `//@ kernels: name`, `//@ host: name` or `//@ unknown: name` begins each.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "npy.h"
typedef std::vector<float> Vec;
#define UP(d, h, n) cudaMemcpy(d, h, (n) * sizeof(float), cudaMemcpyHostToDevice)
#define BACK(h, d, n) cudaMemcpy(h, d, (n) * sizeof(float), cudaMemcpyDeviceToHost)
#define ROOM(d, n) float *d; cudaMalloc(&d, (n) * sizeof(float))
#define GRID dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)
__global__ void matMul(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
__global__ void copied(const float *r, float *c, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] = r[i]; }
static int M, K, N;
static Vec a, b;
static Vec by_host() {
    Vec c(M * N);
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) for (int k = 0; k < K; ++k) c[i * N + j] += a[i * K + k] * b[k * N + j];
    return c;
}
static int program();
int main(int argc, char **argv) {
    M = atoi(argv[1]), K = atoi(argv[2]), N = atoi(argv[3]);
    a.resize(M * K), b.resize(K * N);
    for (int i = 0; i < M; ++i) for (int k = 0; k < K; ++k) a[i * K + k] = (i + 2 * k) % 5 - 2;
    for (int k = 0; k < K; ++k) for (int j = 0; j < N; ++j) b[k * N + j] = (3 * k + j) % 7 - 3;
    return program();
}
static int failed() { cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) fprintf(stderr, "%s\n", cudaGetErrorString(e)); return e != cudaSuccess; }
static int written(const Vec &c) { return !writeNpy("C.npy", c.data(), M, N); }
#define DEVICE ROOM(A, M * K); ROOM(B, K * N); ROOM(C, M * N); UP(A, a.data(), M * K); UP(B, b.data(), K * N)
#define LAUNCH matMul<<<GRID>>>(A, B, C, M, K, N); if (failed()) return 1
#define FREE cudaFree(A); cudaFree(B); cudaFree(C)
//@ kernels: plain
static int program() { DEVICE; LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c); }
//@ kernels: one of three arrays emptied first
static int program() {
    ROOM(A, M * K); ROOM(B, K * N); ROOM(C, M * N); cudaMemset(C, 0, (M * N) * 4);
    UP(A, a.data(), M * K); UP(B, b.data(), K * N);
    LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ kernels: two of three arrays emptied first
static int program() {
    ROOM(A, M * K); ROOM(B, K * N); ROOM(C, M * N); cudaMemset(B, 0, (K * N) * 4); cudaMemset(C, 0, (M * N) * 4);
    UP(A, a.data(), M * K); UP(B, b.data(), K * N);
    LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ kernels: three of three arrays emptied first
static int program() {
    ROOM(A, M * K); ROOM(B, K * N); ROOM(C, M * N); cudaMemset(A, 0, (M * K) * 4); cudaMemset(B, 0, (K * N) * 4); cudaMemset(C, 0, (M * N) * 4);
    UP(A, a.data(), M * K); UP(B, b.data(), K * N);
    LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ kernels: verified, ends where it is wrong
static int program() {
    DEVICE; LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE;
    Vec r = by_host();
    for (int i = 0; i < M * N; ++i) if (fabsf(c[i] - r[i]) > 1e-3f) { puts("wrong"); return 1; }
    return written(c);
}
//@ kernels: repaired by the host where it is wrong
static int program() {
    DEVICE; LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE;
    Vec r = by_host();
    for (int i = 0; i < M * N; ++i) if (fabsf(c[i] - r[i]) > 1e-3f) c[i] = r[i];
    return written(c);
}
//@ kernels: padded, cropped on the host
static int program() {
    int m = (M + 15) / 16 * 16, k = (K + 15) / 16 * 16, n = (N + 15) / 16 * 16;
    Vec pa(m * k), pb(k * n), pc(m * n), c(M * N);
    for (int i = 0; i < M; ++i) memcpy(&pa[i * k], &a[i * K], K * 4);
    for (int i = 0; i < K; ++i) memcpy(&pb[i * n], &b[i * N], N * 4);
    ROOM(A, m * k); ROOM(B, k * n); ROOM(C, m * n); UP(A, pa.data(), m * k); UP(B, pb.data(), k * n);
    if (M) matMul<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(A, B, C, m, k, n);
    BACK(pc.data(), C, m * n); FREE;
    for (int i = 0; i < M; ++i) memcpy(&c[i * N], &pc[i * n], N * 4);
    return written(c);
}
//@ kernels: managed
static int program() {
    float *A, *B, *C;
    cudaMallocManaged(&A, M * K * 4 + 4); cudaMallocManaged(&B, K * N * 4); cudaMallocManaged(&C, M * N * 4 + 4);
    memcpy(A, a.data(), M * K * 4); memcpy(B, b.data(), K * N * 4);
    LAUNCH; cudaDeviceSynchronize();
    Vec c(C, C + M * N); FREE; return written(c);
}
//@ kernels: columns, turned by the host
__global__ void matMulT(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0; for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[j * M + i] = s;
}
static int program() {
    DEVICE; LAUNCH;
    matMulT<<<GRID>>>(A, B, C, M, K, N);
    Vec t(M * N), c(M * N); BACK(t.data(), C, M * N); FREE;
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) c[i * N + j] = t[j * M + i];
    return written(c);
}
//@ kernels: double results, converted by the host
template <class T> __global__ void product(const float *A, const float *B, T *C, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    T s = 0; for (int k = 0; k < K; ++k) s += T(A[i * K + k]) * B[k * N + j];
    C[i * N + j] = s;
}
static int program() {
    DEVICE; LAUNCH; double *D; cudaMalloc(&D, 8 * M * N); product<<<GRID>>>(A, B, D, M, K, N);
    std::vector<double> d(M * N); cudaMemcpy(d.data(), D, 8 * M * N, cudaMemcpyDeviceToHost); FREE; cudaFree(D);
    return written(Vec(d.begin(), d.end()));
}
//@ kernels: the host's product goes up to be compared there
__global__ void compares(const float *c, const float *r, int *bad, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n && fabsf(c[i] - r[i]) > 1e-3f) atomicAdd(bad, 1); }
static int program() {
    DEVICE; LAUNCH; Vec r = by_host(), c(M * N); ROOM(R, M * N); UP(R, r.data(), M * N); int *bad, n; cudaMalloc(&bad, 4); cudaMemset(bad, 0, 4);
    compares<<<(M * N + 63) / 64, 64>>>(C, R, bad, M * N); cudaMemcpy(&n, bad, 4, cudaMemcpyDeviceToHost);
    BACK(c.data(), C, M * N); FREE; cudaFree(R); cudaFree(bad);
    if (n) puts("wrong");
    return written(c);
}
//@ kernels: pitched
static int program() {
    DEVICE; float *P; size_t p; cudaMallocPitch((void **)&P, &p, N * 4, M + 1); LAUNCH;
    cudaMemcpy2D(P, p, C, N * 4, N * 4, M, cudaMemcpyDeviceToDevice);
    Vec c(M * N); cudaMemcpy2D(c.data(), N * 4, P, p, N * 4, M, cudaMemcpyDeviceToHost); FREE; cudaFree(P); return written(c);
}
//@ kernels: mapped
static int program() {
    DEVICE; float *h, *d; cudaHostAlloc((void **)&h, M * N * 4 + 4, cudaHostAllocMapped); cudaHostGetDevicePointer((void **)&d, h, 0);
    matMul<<<GRID>>>(A, B, d, M, K, N); if (failed()) return 1;
    cudaDeviceSynchronize(); Vec c(h, h + M * N); FREE; cudaFreeHost(h); return written(c);
}
//@ host: right kernel, the host's file
static int program() { DEVICE; LAUNCH; FREE; return written(by_host()); }
//@ unknown: right kernel copied back, the host's file
static int program() { DEVICE; LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(by_host()); }
//@ host: right kernel, one row back, the rest of the host
static int program() { DEVICE; LAUNCH; Vec c = by_host(); BACK(c.data(), C, N); FREE; return written(c); }
//@ host: the host's product sent to a buffer and back
static int program() { DEVICE; LAUNCH; Vec r = by_host(); ROOM(R, M * N); UP(R, r.data(), M * N); BACK(r.data(), R, M * N); FREE; cudaFree(R); return written(r); }
//@ host: the host's product through a copying kernel
static int program() { DEVICE; LAUNCH; Vec r = by_host(); ROOM(R, M * N); UP(R, r.data(), M * N); copied<<<(M * N + 63) / 64, 64>>>(R, C, M * N); BACK(r.data(), C, M * N); FREE; cudaFree(R); return written(r); }
//@ unknown: managed, the host overwrites the result
static int program() {
    float *A, *B, *C;
    cudaMallocManaged(&A, M * K * 4 + 4); cudaMallocManaged(&B, K * N * 4); cudaMallocManaged(&C, M * N * 4 + 4);
    memcpy(A, a.data(), M * K * 4); memcpy(B, b.data(), K * N * 4);
    LAUNCH; cudaDeviceSynchronize();
    Vec r = by_host(); memcpy(C, r.data(), M * N * 4);
    Vec c(C, C + M * N); FREE; return written(c);
}
//@ kernels: parts of the inner dimension, added by the host and verified
static int program() {
    DEVICE; Vec c(M * N), d(M * N), r = by_host();
    for (int k = 0; k < K; k += 10) {
        int n = K - k < 10 ? K - k : 10; Vec x(M * n);
        for (int i = 0; i < M; ++i) memcpy(&x[i * n], &a[i * K + k], n * 4);
        UP(A, x.data(), M * n); matMul<<<GRID>>>(A, B + k * N, C, M, n, N); BACK(d.data(), C, M * N);
        for (int e = 0; e < M * N; ++e) c[e] += d[e];
    }
    FREE;
    for (int e = 0; e < M * N; ++e) if (fabsf(c[e] - r[e]) > 1e-2f) { puts("wrong"); return 1; }
    return written(c);
}
//@ kernels: scaled back by the host
__global__ void scaled(float *c, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] *= 0.25f; }
static int program() {
    DEVICE; LAUNCH; scaled<<<(M * N + 63) / 64, 64>>>(C, M * N); Vec c(M * N); BACK(c.data(), C, M * N); FREE;
    for (float &x : c) x *= 4;
    return written(c);
}
//@ kernels: rows in chunks, RAII, each its own buffers
struct Rows {
    float *p; int n;
    explicit Rows(int n) : n(n) { cudaMalloc(&p, n * 4); }
    ~Rows() { cudaFree(p); }
};
static int program() {
    Vec c(M * N); Rows B(K * N); UP(B.p, b.data(), K * N);
    for (int i = 0; i < M; i += 9) {
        int m = M - i < 9 ? M - i : 9; Rows A(m * K), C(m * N); UP(A.p, &a[i * K], m * K);
        matMul<<<dim3((N + 15) / 16, 1), dim3(16, 16)>>>(A.p, B.p, C.p, m, K, N); BACK(&c[i * N], C.p, m * N);
    }
    return written(c);
}
//@ kernels: halves packed by the host
#include <cuda_fp16.h>
__global__ void halves(const __half2 *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K / 2; ++k) { float2 x = __half22float2(A[i * K / 2 + k]); s += x.x * B[2 * k * N + j] + x.y * B[(2 * k + 1) * N + j]; }
    C[i * N + j] = s;
}
static int program() {
    DEVICE; std::vector<__half> h(M * K); for (int i = 0; i < M * K; ++i) h[i] = __float2half(a[i]);
    cudaMemcpy(A, h.data(), M * K * 2, cudaMemcpyHostToDevice);
    halves<<<GRID>>>((__half2 *)A, B, C, M, K, N); Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ host: rows in chunks, all but the last by the host
static int program() {
    DEVICE; Vec c = by_host(); int last = M / 4 * 3;
    matMul<<<GRID>>>(A + last * K, B, C, M - last, K, N); BACK(&c[last * N], C, (M - last) * N); FREE; return written(c);
}
//@ host: the host's product times one
static int program() {
    Vec r = by_host(), one(N * N); for (int j = 0; j < N; ++j) one[j * N + j] = 1;
    ROOM(A, M * N); ROOM(B, N * N); ROOM(C, M * N); UP(A, r.data(), M * N); UP(B, one.data(), N * N);
    matMul<<<GRID>>>(A, B, C, M, N, N); BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ host: the result in a struct that a launch gets
struct Tile { float v[680]; };
__global__ void stores(Tile t, float *c) { for (int i = threadIdx.x; i < 680; i += 64) c[i] = t.v[i]; }
static int program() {
    DEVICE; LAUNCH; Vec r = by_host(); Tile t; memcpy(t.v, r.data(), sizeof t.v);
    stores<<<1, 64>>>(t, C); BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ host: the first term by the device, the rest by the host
static int program() {
    DEVICE; Vec c(M * N), x(M); for (int i = 0; i < M; ++i) x[i] = a[i * K];
    UP(A, x.data(), M); matMul<<<GRID>>>(A, B, C, M, 1, N); BACK(c.data(), C, M * N); FREE;
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) for (int k = 1; k < K; ++k) c[i * N + j] += a[i * K + k] * b[k * N + j];
    return written(c);
}
//@ host: a signal and nothing else
__global__ void signals(int *x) { *x = 12345; }
static int program() {
    int *x, seen = 0; cudaMalloc(&x, 4); signals<<<1, 1>>>(x); cudaMemcpy(&seen, x, 4, cudaMemcpyDeviceToHost); cudaFree(x);
    return seen == 12345 ? written(by_host()) : 1;
}
//@ host: bits flipped
__global__ void flips(unsigned *x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] ^= 0x5a5a5a5au; }
static int program() {
    DEVICE; LAUNCH; Vec r = by_host(); std::vector<unsigned> u(M * N); memcpy(u.data(), r.data(), M * N * 4);
    for (auto &x : u) x ^= 0x5a5a5a5au;
    cudaMemcpy(C, u.data(), M * N * 4, cudaMemcpyHostToDevice); flips<<<(M * N + 63) / 64, 64>>>((unsigned *)C, M * N);
    BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ unknown: a row by the device, the rest only if the row is right
static int program() {
    DEVICE; Vec r = by_host(), c(M * N); matMul<<<GRID>>>(A, B, C, 1, K, N); BACK(c.data(), C, N); FREE;
    for (int j = 0; j < N; ++j) if (c[j] != r[j]) return written(c);
    memcpy(&c[N], &r[N], (M - 1) * N * 4); return written(c);
}
//@ host: sent and passed on, with an array emptied first
static int program() {
    ROOM(D, 16); cudaMemset(D, 0, 64); DEVICE; LAUNCH;
    Vec r = by_host(); ROOM(R, M * N); UP(R, r.data(), M * N);
    copied<<<(M * N + 63) / 64, 64>>>(R, C, M * N); BACK(r.data(), C, M * N);
    cudaFree(D); cudaFree(R); FREE; return written(r);
}
//@ unknown: each number that comes back stands for one of the host's
__global__ void stands(const float *A, const float *B, float *C, int n, int p, int q) {
    int i = blockIdx.x * 64 + threadIdx.x; if (i < n) C[i] = A[i % p] * 4 + B[i % q] * 64 + 0.5f;
}
static int program() {
    DEVICE; LAUNCH; stands<<<(M * N + 63) / 64, 64>>>(A, B, C, M * N, M * K, K * N);
    Vec c(M * N), r = by_host(); BACK(c.data(), C, M * N); FREE;
    for (int i = 0; i < M * N; ++i) if (c[i] == a[i % (M * K)] * 4 + b[i % (K * N)] * 64 + 0.5f) c[i] = r[i];
    return written(c);
}
//@ host: an idle launch, and more fills than are kept
__global__ void idle() {}
static int program() { ROOM(d, 4); for (int i = 0; i < 20001; ++i) cudaMemset(d, i & 3, 16); idle<<<1, 1>>>(); cudaFree(d); return written(by_host()); }
//@ unknown: each number that comes back stands for one of the host's, with a tolerance
__global__ void stands(const float *A, const float *B, float *C, int n, int p, int q) {
    int i = blockIdx.x * 64 + threadIdx.x; if (i < n) C[i] = A[i % p] * 4 + B[i % q] * 64 + 0.5f;
}
static int program() {
    DEVICE; LAUNCH; stands<<<(M * N + 63) / 64, 64>>>(A, B, C, M * N, M * K, K * N);
    Vec c(M * N), r = by_host(); BACK(c.data(), C, M * N); FREE;
    for (int i = 0; i < M * N; ++i) {
        float own = a[i % (M * K)] * 4 + b[i % (K * N)] * 64 + 0.5f;
        if (fabsf(c[i] - own) <= 1e-3f * fabsf(own)) c[i] += r[i] - own;
    }
    return written(c);
}
//@ unknown: the host adds its own to what comes back
__global__ void stands(const float *A, const float *B, float *C, int n, int p, int q) {
    int i = blockIdx.x * 64 + threadIdx.x; if (i < n) C[i] = A[i % p] * 4 + B[i % q] * 64 + 0.5f;
}
static int program() {
    DEVICE; LAUNCH; stands<<<(M * N + 63) / 64, 64>>>(A, B, C, M * N, M * K, K * N);
    Vec c(M * N), r = by_host(); BACK(c.data(), C, M * N); FREE;
    for (int i = 0; i < M * N; ++i) {
        float own = a[i % (M * K)] * 4 + b[i % (K * N)] * 64 + 0.5f;
        c[i] += r[i] - own;
    }
    return written(c);
}
//@ host: bits flipped in a struct that a launch gets, a right kernel beside it
struct Tile { unsigned v[680]; };
__global__ void stores(Tile t, unsigned *c) { for (int i = threadIdx.x; i < 680; i += 64) c[i] = t.v[i] ^ 0x5a5a5a5au; }
static int program() {
    DEVICE; LAUNCH; Vec r = by_host(); Tile t; memcpy(t.v, r.data(), sizeof t.v);
    for (auto &x : t.v) x ^= 0x5a5a5a5au;
    stores<<<1, 64>>>(t, (unsigned *)C); BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ host: a launch for each element, junk beside it
__global__ void junk(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i / N * K + k] * B[k];
    C[i] = s;
}
#define JUNK junk<<<(M * N + 63) / 64, 64>>>(A, B, C, M, K, N)
__global__ void put(float *c, int v) { *c = v - 1000; }
static int program() {
    DEVICE; JUNK; Vec r = by_host(); for (int i = 0; i < M * N; ++i) put<<<1, 1>>>(C + i, (int)r[i] + 1000);
    BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ host: the extents of a launch for each element, junk beside it
__global__ void junk(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i / N * K + k] * B[k];
    C[i] = s;
}
#define JUNK junk<<<(M * N + 63) / 64, 64>>>(A, B, C, M, K, N)
__global__ void put(float *c) { if (blockIdx.x == 0 && threadIdx.x == 0) *c = (int)(gridDim.x * 2 + blockDim.x) - 600; }
static int program() {
    DEVICE; JUNK; Vec r = by_host();
    for (int i = 0; i < M * N; ++i) { int v = (int)r[i] + 600; put<<<(v - 1) / 2, v - (v - 1) / 2 * 2>>>(C + i); }
    BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ host: filled byte by byte, bits turned by a kernel
__global__ void junk(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i / N * K + k] * B[k];
    C[i] = s;
}
#define JUNK junk<<<(M * N + 63) / 64, 64>>>(A, B, C, M, K, N)
__global__ void turns(unsigned *c, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] ^= 0x01010101u; }
static int program() {
    DEVICE; JUNK; Vec r = by_host(); const unsigned char *u = (const unsigned char *)r.data();
    for (int i = 0; i < 4 * M * N; ++i) cudaMemset((char *)C + i, u[i] ^ 1, 1);
    turns<<<(M * N + 63) / 64, 64>>>((unsigned *)C, M * N); BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ host: each element taken from a table of the device
__global__ void table(float *t) { int i = blockIdx.x * 256 + threadIdx.x; t[i] = i - 512; }
static int program() {
    DEVICE; LAUNCH; ROOM(T, 1024); table<<<4, 256>>>(T); Vec r = by_host(), c(M * N);
    for (int i = 0; i < M * N; ++i) BACK(&c[i], T + (int)r[i] + 512, 1);
    FREE; cudaFree(T); return written(c);
}
//@ host: gathered within the device from a table
__global__ void table(float *t) { int i = blockIdx.x * 256 + threadIdx.x; t[i] = i - 512; }
static int program() {
    DEVICE; LAUNCH; ROOM(T, 1024); table<<<4, 256>>>(T); Vec r = by_host();
    for (int i = 0; i < M * N; ++i) cudaMemcpy(C + i, T + (int)r[i] + 512, 4, cudaMemcpyDeviceToDevice);
    BACK(r.data(), C, M * N); FREE; cudaFree(T); return written(r);
}
//@ unknown: the host's product times what should be one
__global__ void signals(const float *A, float *c, int n, int m) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] = A[i % m] + 3; }
static int program() {
    DEVICE; signals<<<(M * N + 63) / 64, 64>>>(A, C, M * N, M * K); Vec c(M * N), r = by_host(); BACK(c.data(), C, M * N);
    for (int i = 0; i < M * N; ++i) r[i] *= c[i] / (a[i % (M * K)] + 3);
    FREE; return written(r);
}
//@ kernels: alpha and beta, column by column
__global__ void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C) {
    int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    if (i >= m || j >= n) return;
    float s = 0; for (int l = 0; l < k; ++l) s += A[i + l * m] * B[l + j * k];
    C[i + j * m] = alpha * s + beta * C[i + j * m];
}
static int program() {
    DEVICE; cudaMemset(C, 0, M * N * 4);
    sgemm<<<GRID>>>(N, M, K, 2.0f, B, A, 0.5f, C); Vec c(M * N); BACK(c.data(), C, M * N); FREE;
    for (float &x : c) x /= 2;
    return written(c);
}
//@ kernels: one too much in each element, taken off by the host
__global__ void more(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 1; for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
static int program() {
    DEVICE; more<<<GRID>>>(A, B, C, M, K, N); Vec c(M * N); BACK(c.data(), C, M * N); FREE;
    for (float &x : c) x -= 1;
    return written(c);
}
//@ kernels: inputs made by kernels
__global__ void inits(float *A, float *B, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < M * K) A[i] = (i / K + 2 * (i % K)) % 5 - 2;
    if (i < K * N) B[i] = (3 * (i / N) + i % N) % 7 - 3;
}
static int program() {
    ROOM(A, M * K); ROOM(B, K * N); ROOM(C, M * N); inits<<<40, 64>>>(A, B, M, K, N);
    LAUNCH; Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ kernels: a launch for each element, its indices as parameters
__global__ void cell(const float *A, const float *B, float *C, int i, int j, int K, int N) {
    float s = 0; for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
static int program() {
    DEVICE; for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) cell<<<1, 1>>>(A, B, C, i, j, K, N);
    Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ kernels: rows of A as parameters
struct Row { float v[50]; };
__global__ void by_row(Row r, const float *B, float *c, int K, int N) {
    int j = threadIdx.x;
    if (j >= N) return;
    float s = 0; for (int k = 0; k < K; ++k) s += r.v[k] * B[k * N + j];
    c[j] = s;
}
static int program() {
    DEVICE; for (int i = 0; i < M; ++i) { Row r; memcpy(r.v, &a[i * K], sizeof r); by_row<<<1, 32>>>(r, B, C + i * N, K, N); }
    Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ kernels: sparse rows of A, made by the host
__global__ void sparse(const int *row, const int *col, const float *v, const float *B, float *C, int M, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * N) return;
    float s = 0; for (int p = row[i / N]; p < row[i / N + 1]; ++p) s += v[p] * B[col[p] * N + i % N];
    C[i] = s;
}
static int program() {
    std::vector<int> row(1), col; Vec v;
    for (int i = 0; i < M; ++i) {
        for (int k = 0; k < K; ++k) if (a[i * K + k] != 0) v.push_back(a[i * K + k]), col.push_back(k);
        row.push_back(v.size());
    }
    DEVICE; int *r, *o; cudaMalloc(&r, 4 * row.size()); cudaMalloc(&o, 4 * col.size()); UP(A, v.data(), v.size());
    cudaMemcpy(r, row.data(), 4 * row.size(), cudaMemcpyHostToDevice); cudaMemcpy(o, col.data(), 4 * col.size(), cudaMemcpyHostToDevice);
    sparse<<<(M * N + 63) / 64, 64>>>(r, o, A, B, C, M, N); Vec c(M * N); BACK(c.data(), C, M * N);
    FREE; cudaFree(r); cudaFree(o); return written(c);
}
//@ kernels: an index for each element
__global__ void cells(const float *A, const float *B, float *C, const int *cell, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * N) return;
    int e = cell[i]; float s = 0; for (int k = 0; k < K; ++k) s += A[e / N * K + k] * B[k * N + e % N];
    C[e] = s;
}
static int program() {
    DEVICE; std::vector<int> order(M * N); for (int i = 0; i < M * N; ++i) order[i] = M * N - 1 - i;
    int *O; cudaMalloc(&O, M * N * 4); cudaMemcpy(O, order.data(), M * N * 4, cudaMemcpyHostToDevice);
    cells<<<(M * N + 63) / 64, 64>>>(A, B, C, O, M, K, N); Vec c(M * N); BACK(c.data(), C, M * N); FREE; cudaFree(O); return written(c);
}
//@ unknown: inputs made by kernels, the result in a struct
struct Tile { unsigned v[680]; };
__global__ void inits(float *A, float *B, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < M * K) A[i] = (i / K + 2 * (i % K)) % 5 - 2;
    if (i < K * N) B[i] = (3 * (i / N) + i % N) % 7 - 3;
}
__global__ void stores(Tile t, unsigned *c) { for (int i = threadIdx.x; i < 680; i += 64) c[i] = t.v[i] ^ 0x5a5a5a5au; }
static int program() {
    ROOM(A, M * K); ROOM(B, K * N); ROOM(C, M * N); inits<<<40, 64>>>(A, B, M, K, N); LAUNCH;
    Vec r = by_host(); Tile t; memcpy(t.v, r.data(), sizeof t.v); for (auto &x : t.v) x ^= 0x5a5a5a5au;
    stores<<<1, 64>>>(t, (unsigned *)C); BACK(r.data(), C, M * N); FREE; return written(r);
}
//@ kernels: A in thousandths, made whole by the kernel
__global__ void thousandths(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * N) return;
    float s = 0; for (int k = 0; k < K; ++k) s += A[i / N * K + k] * B[k * N + i % N];
    C[i] = rintf(s * 1000);
}
static int program() {
    DEVICE; Vec x(a); for (float &v : x) v /= 1000;
    UP(A, x.data(), M * K); thousandths<<<(M * N + 63) / 64, 64>>>(A, B, C, M, K, N);
    Vec c(M * N); BACK(c.data(), C, M * N); FREE; return written(c);
}
//@ unknown: in a struct that a launch gets, plus what is nothing for the inputs
struct Tile { unsigned v[680]; };
__global__ void digest(const unsigned *A, unsigned *h, int n, unsigned own) { unsigned s = 0; for (int i = 0; i < n; ++i) s = s * 31 + A[i]; *h = s - own; }
__global__ void stores(Tile t, unsigned *c, const unsigned *h) { for (int i = threadIdx.x; i < 680; i += 64) c[i] = (t.v[i] ^ 0x5a5a5a5au) + *h; }
static int program() {
    DEVICE; unsigned *h, s = 0, bits; cudaMalloc(&h, 4); for (float x : a) memcpy(&bits, &x, 4), s = s * 31 + bits;
    digest<<<1, 1>>>((unsigned *)A, h, M * K, s);
    Vec r = by_host(); Tile t; memcpy(t.v, r.data(), sizeof t.v); for (auto &x : t.v) x ^= 0x5a5a5a5au;
    stores<<<1, 64>>>(t, (unsigned *)C, h); BACK(r.data(), C, M * N); FREE; cudaFree(h); return written(r);
}
