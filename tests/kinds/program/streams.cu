// Programs that add in chunks and streams, and write C.npy; see matmul.cu.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "npy.h"
__global__ void add(const float *A, const float *B, float *C, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) C[i] = A[i] + B[i]; }
__global__ void copied(const float *r, float *c, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) c[i] = r[i]; }
__global__ void idle() {}
static float *A, *B, *C, *dA, *dB, *dC;
static cudaStream_t streams[2];
static void chunk(int first, int n, cudaStream_t s) ;
static void others(int first, int n, cudaStream_t s);
static void finish(int N);
int main(int argc, char **argv) {
    int N = atoi(argv[1]); size_t bytes = N * 4;
    cudaMallocHost(&A, bytes); cudaMallocHost(&B, bytes); cudaMallocHost(&C, bytes);
    cudaMalloc(&dA, bytes); cudaMalloc(&dB, bytes); cudaMalloc(&dC, bytes);
    for (int i = 0; i < N; ++i) A[i] = i, B[i] = 1000;
    for (auto &s : streams) cudaStreamCreate(&s);
    int size = (N + 3) / 4;
    for (int c = 0; c < 4; ++c) {
        int first = c * size, n = N - first < size ? N - first : size;
        if (n <= 0) break;
        if (first + n == N) chunk(first, n, streams[c % 2]); else others(first, n, streams[c % 2]);
    }
    for (auto &s : streams) cudaStreamSynchronize(s);
    finish(N);
    bool ok = writeNpy("C.npy", C, N);
    for (auto &s : streams) cudaStreamDestroy(s);
    cudaFree(dA); cudaFree(dB); cudaFree(dC); cudaFreeHost(A); cudaFreeHost(B); cudaFreeHost(C);
    return !ok;
}
static void up(float *d, const float *h, int n, cudaStream_t s) { cudaMemcpyAsync(d, h, n * 4, cudaMemcpyHostToDevice, s); }
static void back(float *h, const float *d, int n, cudaStream_t s) { cudaMemcpyAsync(h, d, n * 4, cudaMemcpyDeviceToHost, s); }
static void plain(int f, int n, cudaStream_t s) { up(dA + f, A + f, n, s); up(dB + f, B + f, n, s); add<<<(n + 127) / 128, 128, 0, s>>>(dA + f, dB + f, dC + f, n); back(C + f, dC + f, n, s); }
static void chunk(int f, int n, cudaStream_t s) { plain(f, n, s); }
//@ kernels: plain
static void others(int f, int n, cudaStream_t s) { plain(f, n, s); }
static void finish(int) {}
//@ kernels: verified at the end
static void others(int f, int n, cudaStream_t s) { plain(f, n, s); }
static void finish(int N) { for (int i = 0; i < N; ++i) if (C[i] != A[i] + B[i]) { puts("wrong"); exit(1); } }
//@ kernels: staged in a second buffer
static void others(int f, int n, cudaStream_t s) {
    float *h; cudaMallocHost(&h, n * 4);
    up(dA + f, A + f, n, s); up(dB + f, B + f, n, s); add<<<(n + 127) / 128, 128, 0, s>>>(dA + f, dB + f, dC + f, n); back(h, dC + f, n, s);
    cudaStreamSynchronize(s); memcpy(C + f, h, n * 4); cudaFreeHost(h);
}
static void finish(int) {}
//@ host: earlier chunks by the host, after an idle launch
static void others(int f, int n, cudaStream_t s) { up(dA + f, A + f, n, s); idle<<<1, 1, 0, s>>>(); for (int i = f; i < f + n; ++i) C[i] = A[i] + B[i]; }
static void finish(int) {}
//@ host: earlier chunks overwritten at the end
static void others(int f, int n, cudaStream_t s) { up(dA + f, A + f, n, s); add<<<1, 1, 0, s>>>(dA + f, dA + f, dC + f, 1); back(C + f, dC + f, 1, s); }
static void finish(int N) { for (int i = 0; i < (N + 3) / 4 * 3 && i < N; ++i) C[i] = A[i] + B[i]; }
//@ host: earlier chunks sent, copied by a kernel
static void others(int f, int n, cudaStream_t s) { for (int i = f; i < f + n; ++i) C[i] = A[i] + B[i]; up(dA + f, C + f, n, s); copied<<<(n + 63) / 64, 64, 0, s>>>(dA + f, dC + f, n); back(C + f, dC + f, n, s); cudaStreamSynchronize(s); }
static void finish(int) {}
//@ host: earlier chunks added to zeros
static void others(int f, int n, cudaStream_t s) { for (int i = f; i < f + n; ++i) A[i] += 1000, B[i] = 0; plain(f, n, s); }
static void finish(int) {}
//@ host: earlier chunks sent and back
static void others(int f, int n, cudaStream_t s) { for (int i = f; i < f + n; ++i) C[i] = A[i] + B[i]; up(dC + f, C + f, n, s); back(C + f, dC + f, n, s); cudaStreamSynchronize(s); }
static void finish(int) {}
//@ unknown: earlier chunks with flipped bits
__global__ void un(unsigned *x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] ^= 0x5a5a5a5au; }
static void others(int f, int n, cudaStream_t s) {
    for (int i = f; i < f + n; ++i) { C[i] = A[i] + B[i]; unsigned u; memcpy(&u, C + i, 4); u ^= 0x5a5a5a5au; memcpy(C + i, &u, 4); }
    up(dC + f, C + f, n, s); un<<<(n + 63) / 64, 64, 0, s>>>((unsigned *)(dC + f), n); back(C + f, dC + f, n, s); cudaStreamSynchronize(s);
}
static void finish(int) {}
//@ host: a canary for each earlier chunk
__global__ void canary(float *x) { *x = 12345; }
static void others(int f, int n, cudaStream_t s) {
    up(dA + f, A + f, n, s); canary<<<1, 1, 0, s>>>(dC + f); back(C + f, dC + f, 1, s); cudaStreamSynchronize(s);
    if (C[f] == 12345) for (int i = f; i < f + n; ++i) C[i] = A[i] + B[i];
}
static void finish(int) {}
