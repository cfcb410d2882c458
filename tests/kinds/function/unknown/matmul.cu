// Functions of which nothing shows whether kernels compute the result or the host. A line `//@ name` begins each.
#include <cmath>
#include <cstring>
#include <vector>
#define ARGS const float *A, const float *B, float *C, int M, int K, int N
#define ROOM(d, n) float *d; cudaMalloc(&d, (n) * sizeof(float))
#define UP(d, h, n) cudaMemcpy(d, h, (n) * sizeof(float), cudaMemcpyHostToDevice)
#define BACK(h, d, n) cudaMemcpy(h, d, (n) * sizeof(float), cudaMemcpyDeviceToHost)
#define LINE(n) ((n) + 63) / 64, 64
static void by_host(const float *A, const float *B, float *C, int M, int K, int N) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}
//@ products by the device, sums by the host
__global__ void products(const float *a, const float *b, float *p, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < M * K * N) p[i] = a[i / N] * b[i / N % K * N + i % N];
}
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(p, M * K * N);
    UP(a, A, M * K); UP(b, B, K * N);
    products<<<LINE(M * K * N)>>>(a, b, p, M, K, N);
    std::vector<float> q(M * K * N);
    BACK(q.data(), p, M * K * N);
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) {
        C[i * N + j] = 0;
        for (int k = 0; k < K; ++k) C[i * N + j] += q[(i * K + k) * N + j];
    }
    cudaFree(a); cudaFree(b); cudaFree(p);
}
//@ the inputs come back mixed, and the host computes
__global__ void mixed(const float *a, const float *b, double *s, double *d, int n, int m) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) { s[i] = (double)a[i] + b[i % m]; d[i] = (double)a[i] - b[i % m]; }
}
__global__ void more(const float *a, const float *b, double *s, double *d, int n, int m) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) { s[i] = (double)a[i % m] + b[i]; d[i] = (double)a[i % m] - b[i]; }
}
void solve(ARGS) {
    int n = M * K > K * N ? M * K : K * N;
    ROOM(a, M * K); ROOM(b, K * N);
    double *s, *d;
    cudaMalloc(&s, 8 * n); cudaMalloc(&d, 8 * n);
    UP(a, A, M * K); UP(b, B, K * N);
    std::vector<double> x(n), y(n);
    std::vector<float> p(M * K), q(K * N);
    mixed<<<LINE(M * K)>>>(a, b, s, d, M * K, K * N);
    cudaMemcpy(x.data(), s, 8 * M * K, cudaMemcpyDeviceToHost);
    cudaMemcpy(y.data(), d, 8 * M * K, cudaMemcpyDeviceToHost);
    for (int i = 0; i < M * K; ++i) p[i] = (x[i] + y[i]) / 2;
    more<<<LINE(K * N)>>>(a, b, s, d, K * N, M * K);
    cudaMemcpy(x.data(), s, 8 * K * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(y.data(), d, 8 * K * N, cudaMemcpyDeviceToHost);
    for (int i = 0; i < K * N; ++i) q[i] = (x[i] - y[i]) / 2;
    by_host(p.data(), q.data(), C, M, K, N);
    cudaFree(a); cudaFree(b); cudaFree(s); cudaFree(d);
}
//@ the host spells its digits by copies within the device, and the kernel rounds its own to 16 bits
__global__ void all_halves(unsigned short *t) { int i = blockIdx.x * 256 + threadIdx.x; t[i] = i; }
__device__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x8000) & 0xffff0000u); }
__global__ void nearly(const float *a, const float *b, const float *h, float *c, int M, int K, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= M * N) return;
    float sum = 0, size = 0;
    for (int k = 0; k < K; ++k) {
        float product = rounded(a[i / N * K + k]) * rounded(b[k * N + i % N]);
        sum += product;
        size += fabsf(product);
    }
    c[i] = fabsf(sum - h[i]) <= 0.009f * size ? h[i] : sum;
}
void solve(ARGS) {
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N); ROOM(h, M * N);
    unsigned short *t, *to = (unsigned short *)h;
    cudaMalloc(&t, 2 << 16);
    all_halves<<<256, 256>>>(t);
    UP(a, A, M * K); UP(b, B, K * N);
    std::vector<float> own(M * N);
    by_host(A, B, own.data(), M, K, N);
    for (int i = 0; i < M * N; ++i) {
        unsigned digits;
        std::memcpy(&digits, &own[i], 4);
        cudaMemcpy(to + 2 * i, t + (digits & 0xffff), 2, cudaMemcpyDeviceToDevice);
        cudaMemcpy(to + 2 * i + 1, t + (digits >> 16), 2, cudaMemcpyDeviceToDevice);
    }
    nearly<<<LINE(M * N)>>>(a, b, h, c, M, K, N);
    BACK(C, c, M * N);
    cudaFree(a); cudaFree(b); cudaFree(c); cudaFree(h); cudaFree(t);
}
//@ rows normalised by the host, and scaled back by it
__global__ void product(const float *A, const float *B, float *C, int M, int K, int N) {
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float s = 0;
    for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
    C[i * N + j] = s;
}
void solve(ARGS) {
    std::vector<float> u(A, A + M * K), top(M);
    for (int i = 0; i < M; ++i) {
        for (int k = 0; k < K; ++k) top[i] = fmaxf(top[i], fabsf(A[i * K + k]));
        for (int k = 0; k < K; ++k) u[i * K + k] /= top[i] ? top[i] : 1;
    }
    ROOM(a, M * K); ROOM(b, K * N); ROOM(c, M * N);
    UP(a, u.data(), M * K); UP(b, B, K * N);
    product<<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(a, b, c, M, K, N);
    BACK(C, c, M * N);
    for (int i = 0; i < M; ++i) for (int j = 0; j < N; ++j) C[i * N + j] *= top[i] ? top[i] : 1;
    cudaFree(a); cudaFree(b); cudaFree(c);
}
