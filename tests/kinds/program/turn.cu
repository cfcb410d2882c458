// Programs that write the transpose of 1, 2, 3 … to C.npy; see matmul.cu.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "npy.h"
typedef std::vector<float> Vec;
#define UP(d, h, n) cudaMemcpy(d, h, (n) * sizeof(float), cudaMemcpyHostToDevice)
#define BACK(h, d, n) cudaMemcpy(h, d, (n) * sizeof(float), cudaMemcpyDeviceToHost)
#define ROOM(d, n) float *d; cudaMalloc(&d, (n) * sizeof(float))
#define LINE(n) ((n) + 63) / 64, 64
#define I int i = blockIdx.x * 64 + threadIdx.x
__global__ void turns(const float *x, float *y, int M, int N) { I; if (i < M * N) y[i % N * M + i / N] = x[i]; }
__global__ void copied(const float *x, float *y, int n) { I; if (i < n) y[i] = x[i]; }
static int M, N;
static Vec v;
static Vec turned();
int main(int, char **argv) {
    M = atoi(argv[1]), N = atoi(argv[2]);
    v.resize(M * N);
    for (int i = 0; i < M * N; ++i) v[i] = i + 1;
    return !writeNpy("C.npy", turned().data(), N, M);
}
static Vec by_host(const Vec &x) { Vec y(M * N); for (int i = 0; i < M * N; ++i) y[i % N * M + i / N] = x[i]; return y; }
//@ kernels: one launch
static Vec turned() {
    Vec w(M * N); ROOM(x, M * N); ROOM(y, M * N); UP(x, v.data(), M * N);
    turns<<<LINE(M * N)>>>(x, y, M, N); BACK(w.data(), y, M * N); cudaFree(x); cudaFree(y); return w;
}
//@ kernels: the input made on the device
__global__ void makes(float *x, int n) { I; if (i < n) x[i] = i + 1; }
static Vec turned() {
    Vec w(M * N); ROOM(x, M * N); ROOM(y, M * N); makes<<<LINE(M * N)>>>(x, M * N);
    turns<<<LINE(M * N)>>>(x, y, M, N); BACK(w.data(), y, M * N); cudaFree(x); cudaFree(y); return w;
}
//@ kernels: managed
static Vec turned() {
    float *x, *y; cudaMallocManaged(&x, 4 * M * N); cudaMallocManaged(&y, 4 * M * N); memcpy(x, v.data(), 4 * M * N);
    turns<<<LINE(M * N)>>>(x, y, M, N); cudaDeviceSynchronize(); Vec w(y, y + M * N); cudaFree(x); cudaFree(y); return w;
}
//@ kernels: tile by tile, put together by the host
__global__ void tile(const float *x, float *y, int M, int N, int r, int c) {
    int i = threadIdx.y, j = threadIdx.x;
    if (r + i < M && c + j < N) y[j * 8 + i] = x[(r + i) * N + c + j];
}
static Vec turned() {
    Vec w(M * N), t(64); ROOM(x, M * N); ROOM(y, 64); UP(x, v.data(), M * N);
    for (int r = 0; r < M; r += 8)
        for (int c = 0; c < N; c += 8) {
            tile<<<1, dim3(8, 8)>>>(x, y, M, N, r, c); BACK(t.data(), y, 64);
            for (int i = 0; i < 8 && r + i < M; ++i) for (int j = 0; j < 8 && c + j < N; ++j) w[(c + j) * M + r + i] = t[j * 8 + i];
        }
    cudaFree(x); cudaFree(y); return w;
}
//@ host: turned, then copied
static Vec turned() {
    Vec w = by_host(v); ROOM(x, M * N); ROOM(y, M * N); UP(x, w.data(), M * N);
    copied<<<LINE(M * N)>>>(x, y, M * N); BACK(w.data(), y, M * N); cudaFree(x); cudaFree(y); return w;
}
//@ host: copied, then turned
static Vec turned() {
    Vec w(M * N); ROOM(x, M * N); ROOM(y, M * N); UP(x, v.data(), M * N);
    copied<<<LINE(M * N)>>>(x, y, M * N); BACK(w.data(), y, M * N); cudaFree(x); cudaFree(y); return by_host(w);
}
