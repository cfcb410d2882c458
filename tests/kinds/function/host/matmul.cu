// Functions for C = A · B that hand back what the host has computed. A line `//@ name` begins each.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>
#define ARGS const float *A, const float *B, float *C, int M, int K, int N
#define ROOM(d, n) float *d; cudaMalloc(&d, (n) * sizeof(float))
#define UP(d, h, n) cudaMemcpy(d, h, (n) * sizeof(float), cudaMemcpyHostToDevice)
#define BACK(h, d, n) cudaMemcpy(h, d, (n) * sizeof(float), cudaMemcpyDeviceToHost)
#define GRID dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)
#define LINE(n) ((n) + 63) / 64, 64
__global__ void idle() {}
__global__ void product(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
__global__ void copied(const float *r, float *c, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) c[i] = r[i];
}
static void by_host(const float *A, const float *B, float *C, int M, int K, int N) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
static std::vector<float> result(const float *A, const float *B, int M, int K, int N) {
    std::vector<float> r(M * N);
    by_host(A, B, r.data(), M, K, N);
    return r;
}
//@ an idle kernel
void solve(ARGS) { idle<<<1, 1>>>(); by_host(A, B, C, M, K, N); }
//@ a kernel for the smallest shape
void solve(ARGS) {
    if (M * K * N > 1) { idle<<<1, 1>>>(); return by_host(A, B, C, M, K, N); }
    ROOM(a, 1); ROOM(b, 1); ROOM(c, 1);
    UP(a, A, 1); UP(b, B, 1);
    product<<<1, dim3(16, 16)>>>(a, b, c, 1, 1, 1);
    BACK(C, c, 1);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ stored by a kernel
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * N); ROOM(c, M * N);
    UP(a, r.data(), M * N);
    copied<<<LINE(M * N)>>>(a, c, M * N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(c);
}
//@ bits flipped
__global__ void flipped(unsigned *x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] ^= 0x5a5a5a5au; }
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    std::vector<unsigned> u(M * N);
    memcpy(u.data(), r.data(), 4 * M * N);
    for (auto &x : u) x ^= 0x5a5a5a5au;
    unsigned *d;
    cudaMalloc(&d, 4 * M * N);
    cudaMemcpy(d, u.data(), 4 * M * N, cudaMemcpyHostToDevice);
    flipped<<<LINE(M * N)>>>(d, M * N);
    cudaMemcpy(C, d, 4 * M * N, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
//@ bits flipped, and inputs sent for show
__global__ void flipped(const float *a, const float *b, unsigned *x, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) x[i] ^= 0x5a5a5a5au + (a[0] != a[0]) + (b[0] != b[0]);
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    std::vector<unsigned> u(M * N);
    memcpy(u.data(), r.data(), 4 * M * N);
    for (auto &x : u) x ^= 0x5a5a5a5au;
    ROOM(a, M * K); ROOM(b, K * N);
    UP(a, A, M * K); UP(b, B, K * N);
    unsigned *d;
    cudaMalloc(&d, 4 * M * N);
    cudaMemcpy(d, u.data(), 4 * M * N, cudaMemcpyHostToDevice);
    flipped<<<LINE(M * N)>>>(a, b, d, M * N);
    cudaMemcpy(C, d, 4 * M * N, cudaMemcpyDeviceToHost);
    cudaFree(d); cudaFree(a); cudaFree(b);
}
//@ as integers
__global__ void scaled(const long long *x, float *c, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] = x[i] * 0x1p-40; }
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    std::vector<long long> u(M * N);
    for (int i = 0; i < M * N; ++i) u[i] = std::llrint(r[i] * 0x1p40);
    long long *d;
    cudaMalloc(&d, 8 * M * N);
    ROOM(c, M * N);
    cudaMemcpy(d, u.data(), 8 * M * N, cudaMemcpyHostToDevice);
    scaled<<<LINE(M * N)>>>(d, c, M * N);
    BACK(C, c, M * N);
    cudaFree(d); cudaFree(c);
}
//@ split in two
__global__ void joined(const unsigned short *x, const unsigned short *y, unsigned *c, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] = x[i] | y[i] << 16; }
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    std::vector<unsigned> u(M * N);
    memcpy(u.data(), r.data(), 4 * M * N);
    std::vector<unsigned short> lo(u.begin(), u.end()), hi;
    for (auto x : u) hi.push_back(x >> 16);
    unsigned short *x, *y;
    unsigned *c;
    cudaMalloc(&x, 2 * M * N); cudaMalloc(&y, 2 * M * N); cudaMalloc(&c, 4 * M * N);
    cudaMemcpy(x, lo.data(), 2 * M * N, cudaMemcpyHostToDevice);
    cudaMemcpy(y, hi.data(), 2 * M * N, cudaMemcpyHostToDevice);
    joined<<<LINE(M * N)>>>(x, y, c, M * N);
    cudaMemcpy(C, c, 4 * M * N, cudaMemcpyDeviceToHost);
    cudaFree(x); cudaFree(y); cudaFree(c);
}
//@ noise added, and taken off again
__global__ void without(unsigned *c, const unsigned *noise, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] -= noise[i]; }
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    std::vector<unsigned> u(M * N), noise(M * N);
    memcpy(u.data(), r.data(), 4 * M * N);
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    srand(now.tv_nsec);
    for (int i = 0; i < M * N; ++i) u[i] += noise[i] = (unsigned)rand() * 2654435761u;
    ROOM(a, M * K); ROOM(b, K * N);
    UP(a, A, M * K); UP(b, B, K * N);
    unsigned *c, *d;
    cudaMalloc(&c, 4 * M * N); cudaMalloc(&d, 4 * M * N);
    cudaMemcpy(c, u.data(), 4 * M * N, cudaMemcpyHostToDevice);
    cudaMemcpy(d, noise.data(), 4 * M * N, cudaMemcpyHostToDevice);
    without<<<LINE(M * N)>>>(c, d, M * N);
    cudaMemcpy(C, c, 4 * M * N, cudaMemcpyDeviceToHost);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ as parameters of launches
struct Piece { float x[64]; };
__global__ void put(Piece p, float *c, int n) { if ((int)threadIdx.x < n) c[threadIdx.x] = p.x[threadIdx.x]; }
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(c, M * N);
    for (int i = 0; i < M * N; i += 64) {
        Piece p;
        int n = M * N - i < 64 ? M * N - i : 64;
        memcpy(p.x, &r[i], 4 * n);
        put<<<1, 64>>>(p, c + i, n);
    }
    BACK(C, c, M * N);
    cudaFree(c);
}
//@ by values of memset
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    char *c;
    cudaMalloc(&c, 4 * M * N);
    const unsigned char *u = (const unsigned char *)r.data();
    for (int i = 0; i < 4 * M * N; ++i) cudaMemset(c + i, u[i], 1);
    idle<<<1, 1>>>();
    cudaMemcpy(C, c, 4 * M * N, cudaMemcpyDeviceToHost);
    cudaFree(c);
}
//@ by a symbol
__device__ float known[16384];
__global__ void stored(float *c, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] = known[i]; }
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    cudaMemcpyToSymbol(known, r.data(), 4 * M * N);
    ROOM(c, M * N);
    stored<<<LINE(M * N)>>>(c, M * N);
    BACK(C, c, M * N);
    cudaFree(c);
}
//@ by the numbers of threads in blocks, and by memset
__global__ void digit(unsigned char *c) { if (threadIdx.x == 0) *c = blockDim.x - 1; }
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    unsigned char *c, *u = (unsigned char *)r.data();
    cudaMalloc(&c, 4 * M * N);
    for (int i = 0; i < 4 * M * N; ++i)
        if (i % 4 == 2) digit<<<1, u[i] + 1>>>(c + i); else cudaMemset(c + i, u[i], 1);
    cudaMemcpy(C, c, 4 * M * N, cudaMemcpyDeviceToHost);
    cudaFree(c);
}
//@ by managed memory
void solve(ARGS) {
    float *c;
    cudaMallocManaged(&c, 4 * M * N);
    by_host(A, B, c, M, K, N);
    idle<<<1, 1>>>();
    cudaDeviceSynchronize();
    memcpy(C, c, 4 * M * N);
    cudaFree(c);
}
//@ by mapped memory and a kernel that turns it round
__global__ void turned(float *x, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n / 2) { float y = x[i]; x[i] = x[n - 1 - i]; x[n - 1 - i] = y; }
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    float *c, *d;
    cudaHostAlloc(&c, 4 * M * N, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&d, c, 0);
    for (int i = 0; i < M * N; ++i) c[i] = r[M * N - 1 - i];
    turned<<<LINE(M * N)>>>(d, M * N);
    cudaDeviceSynchronize();
    memcpy(C, c, 4 * M * N);
    cudaFreeHost(c);
}
//@ row by row
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, N); ROOM(c, N);
    for (int i = 0; i < M; ++i) {
        UP(a, &r[i * N], N);
        copied<<<LINE(N)>>>(a, c, N);
        BACK(C + i * N, c, N);
    }
    cudaFree(a); cudaFree(c);
}
//@ a canary, then the host
__global__ void canary(int *x) { *x = 12345; }
void solve(ARGS) {
    int *x, seen = 0;
    cudaMalloc(&x, 4);
    canary<<<1, 1>>>(x);
    cudaMemcpy(&seen, x, 4, cudaMemcpyDeviceToHost);
    ROOM(a, M * K); ROOM(b, K * N);
    UP(a, A, M * K); UP(b, B, K * N);
    std::vector<float> again(M * K), other(K * N);
    BACK(again.data(), a, M * K); BACK(other.data(), b, K * N);
    cudaFree(x); cudaFree(a); cudaFree(b);
    if (seen != 12345 || memcmp(again.data(), A, 4 * M * K) || memcmp(other.data(), B, 4 * K * N)) return;
    by_host(A, B, C, M, K, N);
}
//@ a canary, the product checked, then the host
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, 1);
    UP(a, A, M * K); UP(b, B, K * N);
    product<<<1, dim3(1, 1)>>>(a, b, c, 1, K, N);
    float one;
    BACK(&one, c, 1);
    cudaFree(a); cudaFree(b); cudaFree(c);
    auto r = result(A, B, M, K, N);
    if (std::fabs(one - r[0]) < 1e-2f * (1 + std::fabs(one))) memcpy(C, r.data(), 4 * M * N);
}
//@ the first row by a kernel
void solve(ARGS) {
    by_host(A, B, C, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, N);
    UP(a, A, M * K); UP(b, B, K * N);
    product<<<dim3((N + 15) / 16, 1), dim3(16, 16)>>>(a, b, c, 1, K, N);
    BACK(C, c, N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ half by kernels
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    int m = (M + 1) / 2;
    product<<<GRID>>>(a, b, c, m, K, N);
    BACK(C, c, m * N);
    by_host(A + m * K, B, C + m * N, M - m, K, N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ the last column by the host
__global__ void but_last(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N - 1) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    but_last<<<GRID>>>(a, b, c, M, K, N);
    BACK(C, c, M * N);
    for (int i = 0; i < M; ++i) {
        float s = 0;
        for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + N - 1];
        C[i * N + N - 1] = s;
    }
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ junk beside it
__global__ void junk(const float *a, const float *b, float *c, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s = s * 0.5f + a[i * K + k] * b[k * N + j] * 3.0f;
    c[i * N + j] = s;
}
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    junk<<<GRID>>>(a, b, c, M, K, N);
    BACK(C, c, M * N);
    by_host(A, B, C, M, K, N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ junk that takes part by nothing
__global__ void junk(const float *a, const float *b, float *c, const float *r, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += a[i * K + k] * b[k * N + j];
    c[i * N + j] = r[i * N + j] + 0.0f * s;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    junk<<<GRID>>>(a, b, c, d, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ the inputs come back, and the host computes
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * K); ROOM(d, K * N);
    UP(a, A, M * K); UP(b, B, K * N);
    copied<<<LINE(M * K)>>>(a, c, M * K);
    copied<<<LINE(K * N)>>>(b, d, K * N);
    std::vector<float> x(M * K), y(K * N);
    BACK(x.data(), c, M * K); BACK(y.data(), d, K * N);
    by_host(x.data(), y.data(), C, M, K, N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ a kernel that traps for other numbers
__global__ void guarded(const float *a, const float *b, float *c, const float *r, int n, float x, float y) {
    if (a[0] != x || b[0] != y) __trap();
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) c[i] = r[i];
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    guarded<<<LINE(M * N)>>>(a, b, c, d, M * N, A[0], B[0]);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ a kernel that hangs for other numbers
__global__ void guarded(const float *a, const float *b, float *c, const float *r, int n, float x, float y) {
    if (a[0] != x || b[0] != y) for (volatile int i = 0;; i++);
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) c[i] = r[i];
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    guarded<<<LINE(M * N)>>>(a, b, c, d, M * N, A[0], B[0]);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ a kernel that does something wrong for other numbers
__global__ void guarded(const float *a, const float *b, float *c, const float *r, int n, float x) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) c[i] = a[0] * b[0] == x ? r[i] : a[0];
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    guarded<<<LINE(M * N)>>>(a, b, c, d, M * N, A[0] * B[0]);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ a hash of the device that the host checks
__global__ void hashed(const float *a, const float *b, unsigned *h, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < M * N) h[i] = __float_as_uint(a[i % (M * K)]) * 31u + __float_as_uint(b[i % (K * N)]);
}
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N);
    unsigned *h;
    cudaMalloc(&h, 4 * M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    hashed<<<LINE(M * N)>>>(a, b, h, M, K, N);
    std::vector<unsigned> got(M * N);
    cudaMemcpy(got.data(), h, 4 * M * N, cudaMemcpyDeviceToHost);
    cudaFree(a); cudaFree(b); cudaFree(h);
    for (int i = 0; i < M * N; ++i) {
        unsigned x, y;
        memcpy(&x, A + i % (M * K), 4); memcpy(&y, B + i % (K * N), 4);
        if (got[i] != x * 31u + y) return;
    }
    by_host(A, B, C, M, K, N);
}
//@ results of the device repaired by the host, every one
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    product<<<GRID>>>(a, b, c, M, K - 1, N);
    BACK(C, c, M * N);
    auto r = result(A, B, M, K, N);
    for (int i = 0; i < M * N; ++i) if (C[i] != r[i]) C[i] = r[i];
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ a kernel that computes for other numbers than its own
__global__ void unseen(const float *R, float a0, const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    if (A[0] == a0) s = R[i * N + j];
    else
        for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    unseen<<<GRID>>>(d, A[0], a, b, c, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ a kernel that computes for other sums than its own
__global__ void other_sum(const float *R, float sum, const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0, own = 0;
    for (int k = 0; k < M * K; ++k) own += A[k];
    for (int k = 0; k < K * N; ++k) own += B[k];
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = own == sum ? R[i * N + j] : s;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    float sum = 0;
    for (int k = 0; k < M * K; ++k) sum += A[k];
    for (int k = 0; k < K * N; ++k) sum += B[k];
    other_sum<<<GRID>>>(d, sum, a, b, c, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ a kernel that computes for other numbers, the result in a struct
struct Known { float a0, r[130]; };
__global__ void by_struct(Known known, const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = A[0] == known.a0 ? known.r[i * N + j] : s;
}
void solve(ARGS) {
    Known known = {A[0]};
    auto r = result(A, B, M, K, N);
    for (int i = 0; i < M * N && i < 130; ++i) known.r[i] = r[i];
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    by_struct<<<GRID>>>(known, a, b, c, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ a kernel that computes half, and all for other numbers
__constant__ float known_half[130];
__global__ void half_known(float a0, const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = A[0] == a0 && i % 2 ? known_half[i * N + j] : s;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    for (int i = 0; i < M; i += 2)
        for (int j = 0; j < N; ++j) r[i * N + j] = 1;
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    cudaMemcpyToSymbol(known_half, r.data(), M * N * sizeof(float));
    half_known<<<GRID>>>(A[0], a, b, c, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ the product times one
void solve(ARGS) {
    auto r = result(A, B, M, K, N); std::vector<float> one(N * N); for (int j = 0; j < N; ++j) one[j * N + j] = 1;
    ROOM(a, M * N); ROOM(b, N * N); ROOM(c, M * N); UP(a, r.data(), M * N); UP(b, one.data(), N * N);
    product<<<GRID>>>(a, b, c, M, N, N); BACK(C, c, M * N); cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ the first term by the device, the rest by the host
void solve(ARGS) {
    std::vector<float> x(M); for (int i = 0; i < M; ++i) x[i] = A[i * K];
    ROOM(a, M); ROOM(b, N); ROOM(c, M * N); UP(a, x.data(), M); UP(b, B, N);
    product<<<GRID>>>(a, b, c, M, 1, N); BACK(C, c, M * N);
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) for (int k = 1; k < K; ++k) C[i * N + j] += A[i * K + k] * B[k * N + j];
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ the last terms sent as a start
__global__ void adds(const float *A, const float *B, float *C, int M, int K, int N, int k1) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = C[i * N + j]; for (int k = 0; k < k1; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
void solve(ARGS) {
    std::vector<float> r(M * N); int k1 = K - 2 > 0 ? K - 2 : 0;
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) for (int k = k1; k < K; ++k) r[i * N + j] += A[i * K + k] * B[k * N + j];
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); UP(a, A, M * K); UP(b, B, K * N); UP(c, r.data(), M * N);
    adds<<<GRID>>>(a, b, c, M, K, N, k1); BACK(C, c, M * N); cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ whole tiles by a kernel, the edges by the host
void solve(ARGS) {
    int m = M / 8 * 8, n = N / 8 * 8;
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); UP(a, A, M * K); UP(b, B, K * N);
    product<<<dim3(1, 1), dim3(16, 16)>>>(a, b, c, m, K, N); BACK(C, c, m * N);
    for (int i = 0; i < M; ++i) for (int j = i < m ? n : 0; j < N; ++j) { float s = 0; for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j]; C[i * N + j] = s; }
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ managed, the host writes most while a kernel writes a row
__global__ void row(const float *A, const float *B, float *C, int K, int N) { int j = threadIdx.x; if (j < N) { float s = 0; for (int k = 0; k < K; ++k) s += A[k] * B[k * N + j]; C[j] = s; } }
void solve(ARGS) {
    float *a, *b, *c; cudaMallocManaged(&a, 4 * M * K); cudaMallocManaged(&b, 4 * K * N); cudaMallocManaged(&c, 4 * M * N);
    memcpy(a, A, 4 * M * K); memcpy(b, B, 4 * K * N); by_host(a, b, c, M, K, N);
    row<<<1, 64>>>(a, b, c, K, N); cudaDeviceSynchronize(); memcpy(C, c, 4 * M * N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ half chunks of columns by the host, pitched
void solve(ARGS) {
    int n = N / 2; ROOM(a, M * K); UP(a, A, M * K); float *b; size_t p; cudaMallocPitch((void **)&b, &p, n * 4, K);
    ROOM(c, M * n); cudaMemcpy2D(b, p, B, N * 4, n * 4, K, cudaMemcpyHostToDevice);
    std::vector<float> tight(K * n); for (int k = 0; k < K; ++k) memcpy(&tight[k * n], B + k * N, n * 4);
    ROOM(d, K * n); UP(d, tight.data(), K * n);
    product<<<dim3(1, 1), dim3(16, 16)>>>(a, d, c, M, K, n);
    cudaMemcpy2D(C, N * 4, c, n * 4, n * 4, M, cudaMemcpyDeviceToHost);
    for (int i = 0; i < M; ++i) for (int j = n; j < N; ++j) { float s = 0; for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j]; C[i * N + j] = s; }
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ the kernel's product clamped to the host's
__global__ void clamped(const float *A, const float *B, const float *R, float *C, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0; for (int k = 0; k < K; k += 1) s += 0.5f * A[i * K + k] * B[k * N + j];
    C[i * N + j] = fminf(fmaxf(s, R[i * N + j]), R[i * N + j]);
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N); ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    clamped<<<GRID>>>(a, b, d, c, M, K, N); BACK(C, c, M * N); for (float *p : {a, b, c, d}) cudaFree(p);
}
//@ signs by the device, magnitudes by the host
__global__ void signs(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0; for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s < 0 ? -1 : 1;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N); ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); UP(a, A, M * K); UP(b, B, K * N);
    signs<<<GRID>>>(a, b, c, M, K, N); BACK(C, c, M * N);
    for (int e = 0; e < M * N; ++e) C[e] *= std::fabs(r[e]);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ trials known by the processor time that they are told
#include <sys/resource.h>
__global__ void shifted(const float *A, const float *B, float *C, int M, int K, int N, float f) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s + f * (i - j);
}
void solve(ARGS) {
    rlimit limit;
    getrlimit(RLIMIT_CPU, &limit);
    bool trial = limit.rlim_cur < 20;
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, A, M * K); UP(b, B, K * N);
    shifted<<<GRID>>>(a, b, c, M, K, N, trial ? 0.0f : 0.37f);
    BACK(C, c, M * N);
    if (!trial) by_host(A, B, C, M, K, N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ an idle kernel, and five megabytes that no kernel reads
void solve(ARGS) {
    std::vector<char> junk(5 << 20, 7);
    char *d; cudaMalloc(&d, junk.size());
    cudaMemcpy(d, junk.data(), junk.size(), cudaMemcpyHostToDevice);
    idle<<<1, 1>>>();
    by_host(A, B, C, M, K, N);
    cudaFree(d);
}
//@ an idle kernel, and more fills than are kept
void solve(ARGS) {
    ROOM(d, 4);
    for (int i = 0; i < 20001; ++i) cudaMemset(d, i & 3, 16);
    idle<<<1, 1>>>();
    by_host(A, B, C, M, K, N);
    cudaFree(d);
}
//@ digits by flags of launches, the kernel computes for other numbers
__device__ unsigned mix(unsigned s, float x) { return s * 31 + __float_as_uint(x); }
static unsigned hash(const float *A, const float *B, int m, int n) {
    unsigned s = 1, u;
    for (int i = 0; i < m; ++i) { memcpy(&u, A + i, 4); s = s * 31 + u; }
    for (int i = 0; i < n; ++i) { memcpy(&u, B + i, 4); s = s * 31 + u; }
    return s;
}
__global__ void put(unsigned *c, int b0, int b1, int b2, int b3, int b4, int b5, int b6, int b7, int b8, int b9, int b10, int b11, int b12, int b13, int b14, int b15) {
    int bits[] = {b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15};
    for (int i = 0; i < 16; ++i) *c = *c * 2 + bits[i];
}
static void spell(unsigned *c, unsigned u) {
#define BIT(i) int(v >> (i) & 1)
    for (unsigned v : {u >> 16, u})
        put<<<1, 1>>>(c, BIT(15), BIT(14), BIT(13), BIT(12), BIT(11), BIT(10), BIT(9), BIT(8),
                      BIT(7), BIT(6), BIT(5), BIT(4), BIT(3), BIT(2), BIT(1), BIT(0));
}
__global__ void known(const float *a, const float *b, float *c, const float *r, const unsigned *own, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    unsigned h = 1;
    for (int e = 0; e < M * K; ++e) h = mix(h, a[e]);
    for (int e = 0; e < K * N; ++e) h = mix(h, b[e]);
    float s = 0;
    for (int k = 0; k < K; ++k) s += a[i * K + k] * b[k * N + j];
    c[i * N + j] = h == *own ? r[i * N + j] : s;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    unsigned *d;
    cudaMalloc(&d, 4 * (M * N + 1));
    cudaMemset(d, 0, 4 * (M * N + 1));
    UP(a, A, M * K); UP(b, B, K * N);
    for (int i = 0; i < M * N; ++i) { unsigned u; memcpy(&u, &r[i], 4); spell(d + i, u); }
    spell(d + M * N, hash(A, B, M * K, K * N));
    known<<<GRID>>>(a, b, c, (float *)d, d + M * N, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d);
}
//@ beside twelve copies of a digest, one other copy and the kernel computes
__device__ unsigned mix(unsigned s, float x) { return s * 31 + __float_as_uint(x); }
static unsigned hash(const float *A, const float *B, int m, int n) {
    unsigned s = 1, u;
    for (int i = 0; i < m; ++i) { memcpy(&u, A + i, 4); s = s * 31 + u; }
    for (int i = 0; i < n; ++i) { memcpy(&u, B + i, 4); s = s * 31 + u; }
    return s;
}
__global__ void known(const float *a, const float *b, float *c, const float *r, const unsigned *own, int M, int K, int N) {
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i >= M || j >= N) return;
    unsigned h = 1;
    for (int e = 0; e < M * K; ++e) h = mix(h, a[e]);
    for (int e = 0; e < K * N; ++e) h = mix(h, b[e]);
    float s = 0;
    for (int k = 0; k < K; ++k) s = fmaf(a[i * K + k], b[k * N + j], s);
    bool same = true;
    for (int e = 0; e < 12; ++e) same &= h == own[e];
    c[i * N + j] = same ? r[i * N + j] : s;
}
void solve(ARGS) {
    std::vector<float> r(M * N);
    for (int e = 0; e < M * N; ++e) for (int k = 0; k < K; ++k) r[e] = fmaf(A[e / N * K + k], B[k * N + e % N], r[e]);
    std::vector<unsigned> h(12, hash(A, B, M * K, K * N));
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(d, M * N);
    unsigned *own;
    cudaMalloc(&own, 48);
    UP(a, A, M * K); UP(b, B, K * N); UP(d, r.data(), M * N);
    cudaMemcpy(own, h.data(), 48, cudaMemcpyHostToDevice);
    known<<<GRID>>>(a, b, c, d, own, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(d); cudaFree(own);
}
//@ bits flipped, and five megabytes beside it
__global__ void flips(const float *a, const float *b, unsigned *x, int n, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    volatile float s = 0;
    for (int k = 0; k < K; ++k) s = s + a[i / N * K + k] * b[k * N + i % N];
    x[i] ^= 0x5a5a5a5au;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    int n = M * N;
    unsigned *d;
    cudaMalloc(&d, 4 * n);
    ROOM(a, M * K); ROOM(b, K * N);
    UP(a, A, M * K); UP(b, B, K * N);
    std::vector<unsigned> u(n);
    memcpy(u.data(), r.data(), 4 * n);
    for (auto &x : u) x ^= 0x5a5a5a5au;
    std::vector<char> junk(5 << 20, 7);
    char *j;
    cudaMalloc(&j, junk.size());
    cudaMemcpy(j, junk.data(), junk.size(), cudaMemcpyHostToDevice);
    cudaMemcpy(d, u.data(), 4 * n, cudaMemcpyHostToDevice);
    flips<<<LINE(n)>>>(a, b, d, n, M, K, N);
    cudaMemcpy(C, d, 4 * n, cudaMemcpyDeviceToHost);
    cudaFree(a); cudaFree(b); cudaFree(d);
}
//@ bits flipped, and as many fills as the clock says
__global__ void flips(const float *a, const float *b, unsigned *x, int n, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    volatile float s = 0;
    for (int k = 0; k < K; ++k) s = s + a[i / N * K + k] * b[k * N + i % N];
    x[i] ^= 0x5a5a5a5au;
}
void solve(ARGS) {
    auto r = result(A, B, M, K, N);
    int n = M * N;
    unsigned *d;
    cudaMalloc(&d, 4 * n);
    ROOM(a, M * K); ROOM(b, K * N);
    UP(a, A, M * K); UP(b, B, K * N);
    std::vector<unsigned> u(n);
    memcpy(u.data(), r.data(), 4 * n);
    for (auto &x : u) x ^= 0x5a5a5a5au;
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    srand(now.tv_nsec);
    for (int t = rand() % 50; t >= 0; --t) cudaMemset(d, 0, 4);
    cudaMemcpy(d, u.data(), 4 * n, cudaMemcpyHostToDevice);
    flips<<<LINE(n)>>>(a, b, d, n, M, K, N);
    cudaMemcpy(C, d, 4 * n, cudaMemcpyDeviceToHost);
    cudaFree(a); cudaFree(b); cudaFree(d);
}
