// Programs that add up N ones, and write the sum to C.npy; see matmul.cu.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "npy.h"
static int N;
static std::vector<float> v;
__global__ void parts(const float *v, float *part, int n) {
    __shared__ float s[64];
    float x = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) x += v[i];
    s[threadIdx.x] = x;
    __syncthreads();
    for (int d = 32; d; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
    if (!threadIdx.x) part[blockIdx.x] = s[0];
}
static float sum_of(const std::vector<float> &x) { float s = 0; for (float y : x) s += y; return s; }
static float total();
static int failed;
int main(int, char **argv) { N = atoi(argv[1]); v.assign(N, 1); float t = total(); return failed || !writeNpy("C.npy", &t, 1); }
static std::vector<float> by_blocks() {
    float *d, *p;
    std::vector<float> h(16);
    cudaMalloc(&d, N * 4); cudaMalloc(&p, 64); cudaMemcpy(d, v.data(), N * 4, cudaMemcpyHostToDevice);
    parts<<<16, 64>>>(d, p, N);
    cudaMemcpy(h.data(), p, 64, cudaMemcpyDeviceToHost);
    cudaFree(d); cudaFree(p);
    return h;
}
//@ kernels: blocks, the last step by the host
static float total() { return sum_of(by_blocks()); }
//@ kernels: blocks, the last step by the host, checked
static float total() { float t = sum_of(by_blocks()); failed = fabsf(t - sum_of(v)) > 1e-3f * N; return t; }
//@ kernels: blocks of managed memory
static float total() {
    float *d, *p;
    cudaMallocManaged(&d, N * 4); cudaMallocManaged(&p, 64); memcpy(d, v.data(), N * 4);
    parts<<<16, 64>>>(d, p, N); cudaDeviceSynchronize();
    float t = 0; for (int i = 0; i < 16; ++i) t += p[i];
    cudaFree(d); cudaFree(p);
    return t;
}
//@ host: blocks, and the host's own sum
static float total() { by_blocks(); return sum_of(v); }
//@ unknown: one block of ones, the rest by the host
static float total() {
    float *d, *p, x; cudaMalloc(&d, 256); cudaMalloc(&p, 4); cudaMemcpy(d, v.data(), 256, cudaMemcpyHostToDevice);
    parts<<<1, 64>>>(d, p, 64); cudaMemcpy(&x, p, 4, cudaMemcpyDeviceToHost); cudaFree(d); cudaFree(p);
    return x == 64 ? sum_of(v) : 0;
}
//@ kernels: atomics, as many ones as the total
__global__ void adds(const float *v, float *t, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) atomicAdd(t, v[i]); }
static float total() {
    float *d, *t, s;
    cudaMalloc(&d, N * 4); cudaMalloc(&t, 4); cudaMemset(t, 0, 4);
    cudaMemcpy(d, v.data(), N * 4, cudaMemcpyHostToDevice);
    adds<<<(N + 63) / 64, 64>>>(d, t, N);
    cudaMemcpy(&s, t, 4, cudaMemcpyDeviceToHost);
    cudaFree(d); cudaFree(t);
    return s;
}
//@ kernels: parts in double, added by the host
__global__ void in_double(const double *v, double *t, int n) { double s = 0; for (int i = threadIdx.x; i < n; i += 64) s += v[i]; t[threadIdx.x] = s; }
static float total() {
    std::vector<double> u(v.begin(), v.end()), h(64);
    double *d, *t, s = 0;
    cudaMalloc(&d, N * 8); cudaMalloc(&t, 512);
    cudaMemcpy(d, u.data(), N * 8, cudaMemcpyHostToDevice);
    in_double<<<1, 64>>>(d, t, N);
    cudaMemcpy(h.data(), t, 512, cudaMemcpyDeviceToHost);
    cudaFree(d); cudaFree(t);
    for (double x : h) s += x;
    return s;
}
