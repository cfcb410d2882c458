// Functions that are given arrays in device memory. `//@ operation: kernels, name` or `//@ operation: host, name` begins
// each.
#include <cstdio>
#include <vector>
#define ROOM(d, n) float *d; cudaMalloc(&d, (n) * sizeof(float))
#define UP(d, h, n) cudaMemcpy(d, h, (n) * sizeof(float), cudaMemcpyHostToDevice)
#define BACK(h, d, n) cudaMemcpy(h, d, (n) * sizeof(float), cudaMemcpyDeviceToHost)
#define LINE(n) ((n) + 63) / 64, 64
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
__global__ void idle() {}
__global__ void sum(const float *a, const float *b, float *c, int n) { I; if (i < n) c[i] = a[i] + b[i]; }
//@ add: kernels, plain
void add(const float *A, const float *B, float *C, int N) { sum<<<LINE(N)>>>(A, B, C, N); }
//@ add: kernels, all read back and checked
void add(const float *A, const float *B, float *C, int N) {
    sum<<<LINE(N)>>>(A, B, C, N);
    std::vector<float> a(N), b(N), c(N);
    BACK(a.data(), A, N); BACK(b.data(), B, N); BACK(c.data(), C, N);
    for (int i = 0; i < N; ++i) if (c[i] != a[i] + b[i]) std::printf("%d\n", i);
}
//@ add: host, all of it
void add(const float *A, const float *B, float *C, int N) {
    std::vector<float> a(N), b(N);
    BACK(a.data(), A, N); BACK(b.data(), B, N);
    for (int i = 0; i < N; ++i) a[i] += b[i];
    idle<<<1, 1>>>();
    UP(C, a.data(), N);
}
//@ add: host, four tenths of it
void add(const float *A, const float *B, float *C, int N) {
    int n = N * 4 / 10;
    std::vector<float> a(n), b(n);
    BACK(a.data(), A, n); BACK(b.data(), B, n);
    for (int i = 0; i < n; ++i) a[i] += b[i];
    sum<<<LINE(N - n)>>>(A + n, B + n, C + n, N - n);
    UP(C, a.data(), n);
}
//@ total: kernels, sums of eights finished by the host
__global__ void eights(const float *x, float *p, int n) {
    I;
    if (i * 8 >= n) return;
    float s = 0;
    for (int k = i * 8; k < i * 8 + 8 && k < n; ++k) s += x[k];
    p[i] = s;
}
void total(const float *values, float *total, int N) {
    int m = (N + 7) / 8;
    ROOM(p, m);
    eights<<<LINE(m)>>>(values, p, N);
    std::vector<float> h(m);
    float s;
    BACK(h.data(), p, m); BACK(&s, total, 1);
    for (float v : h) s += v;
    UP(total, &s, 1);
    cudaFree(p);
}
//@ turn: kernels, plain
__global__ void turns(const float *x, float *y, int M, int N) { I; if (i < M * N) y[i % N * M + i / N] = x[i]; }
void turn(const float *input, float *output, int M, int N) { turns<<<LINE(M * N)>>>(input, output, M, N); }
//@ turn: host, by copies within the device
void turn(const float *input, float *output, int M, int N) {
    idle<<<1, 1>>>();
    for (int j = 0; j < N; ++j) cudaMemcpy2D(output + j * M, 4, input + j, 4 * N, 4, M, cudaMemcpyDeviceToDevice);
}
