// Functions of several small operations that hand back what the host has computed. `//@ operation: name` begins
// each.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#define ROOM(d, n) float *d; cudaMalloc(&d, (n) * sizeof(float))
#define UP(d, h, n) cudaMemcpy(d, h, (n) * sizeof(float), cudaMemcpyHostToDevice)
#define BACK(h, d, n) cudaMemcpy(h, d, (n) * sizeof(float), cudaMemcpyDeviceToHost)
#define LINE(n) ((n) + 63) / 64, 64
#define I int i = blockIdx.x * blockDim.x + threadIdx.x
__global__ void idle() {}
__global__ void copied(const float *x, float *y, int n) { I; if (i < n) y[i] = x[i]; }
//@ add: stored
void add(const float *A, const float *B, float *C, int N) {
    std::vector<float> r(N);
    for (int i = 0; i < N; ++i) r[i] = A[i] + B[i];
    ROOM(x, N); ROOM(y, N);
    UP(x, r.data(), N);
    copied<<<LINE(N)>>>(x, y, N);
    BACK(C, y, N);
    cudaFree(x); cudaFree(y);
}
//@ add: a part that takes nothing part
__global__ void sum(const float *a, const float *b, const float *r, float *c, int n) { I; if (i < n) c[i] = r[i] + (a[i] + b[i]) * 0; }
void add(const float *A, const float *B, float *C, int N) {
    std::vector<float> r(N);
    for (int i = 0; i < N; ++i) r[i] = A[i] + B[i];
    ROOM(a, N); ROOM(b, N); ROOM(x, N); ROOM(y, N);
    UP(a, A, N); UP(b, B, N); UP(x, r.data(), N);
    sum<<<LINE(N)>>>(a, b, x, y, N);
    BACK(C, y, N);
    cudaFree(a); cudaFree(b); cudaFree(x); cudaFree(y);
}
//@ add: every second one by the host
__global__ void even(const float *a, const float *b, float *c, int n) { I; if (i < n && i % 2 == 0) c[i] = a[i] + b[i]; }
void add(const float *A, const float *B, float *C, int N) {
    ROOM(a, N); ROOM(b, N); ROOM(c, N);
    UP(a, A, N); UP(b, B, N);
    cudaMemset(c, 0, 4 * N);
    even<<<LINE(N)>>>(a, b, c, N);
    BACK(C, c, N);
    for (int i = 1; i < N; i += 2) C[i] = A[i] + B[i];
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ add: managed
void add(const float *A, const float *B, float *C, int N) {
    float *x;
    cudaMallocManaged(&x, 4 * N);
    for (int i = 0; i < N; ++i) x[i] = A[i] + B[i];
    idle<<<1, 1>>>();
    cudaDeviceSynchronize();
    memcpy(C, x, 4 * N);
    cudaFree(x);
}
//@ total: sent as a parameter
__global__ void put(float s, float *t) { *t += s; }
void total(const float *values, float *total, int N) {
    float s = 0;
    for (int i = 0; i < N; ++i) s += values[i];
    ROOM(t, 1);
    UP(t, total, 1);
    put<<<1, 1>>>(s, t);
    BACK(total, t, 1);
    cudaFree(t);
}
//@ total: sent beside the values
__global__ void put(const float *x, float s, float *t, int n) { float u = 0; for (int i = 0; i < n; ++i) u += x[i]; *t = u == 1e30f ? u : s; }
void total(const float *values, float *total, int N) {
    float s = 0;
    for (int i = 0; i < N; ++i) s += values[i];
    ROOM(x, N); ROOM(t, 1);
    UP(x, values, N);
    put<<<1, 1>>>(x, s, t, N);
    BACK(total, t, 1);
    cudaFree(x); cudaFree(t);
}
//@ total: sums of eights by the host
__global__ void sum(const float *x, float *t, int n) { float u = 0; for (int i = 0; i < n; ++i) u += x[i]; *t = u; }
void total(const float *values, float *total, int N) {
    std::vector<float> p((N + 7) / 8);
    for (int i = 0; i < N; ++i) p[i / 8] += values[i];
    ROOM(x, N); ROOM(t, 1);
    UP(x, p.data(), p.size());
    sum<<<1, 1>>>(x, t, p.size());
    BACK(total, t, 1);
    cudaFree(x); cudaFree(t);
}
//@ total: half of it by the host
__global__ void sum(const float *x, float *t, int n) { float u = 0; for (int i = 0; i < n; ++i) u += x[i]; *t = u; }
void total(const float *values, float *total, int N) {
    ROOM(x, N); ROOM(t, 1);
    UP(x, values, N / 2);
    sum<<<1, 1>>>(x, t, N / 2);
    BACK(total, t, 1);
    for (int i = N / 2; i < N; ++i) *total += values[i];
    cudaFree(x); cudaFree(t);
}
//@ total: the values come back, and the host adds
void total(const float *values, float *total, int N) {
    ROOM(x, N); ROOM(y, N);
    UP(x, values, N);
    copied<<<LINE(N)>>>(x, y, N);
    std::vector<float> v(N);
    BACK(v.data(), y, N);
    for (float x : v) *total += x;
    cudaFree(x); cudaFree(y);
}
//@ total: idle, all values sent
void total(const float *values, float *total, int N) {
    ROOM(x, N);
    UP(x, values, N);
    idle<<<1, 1>>>();
    cudaDeviceSynchronize();
    for (int i = 0; i < N; ++i) *total += values[i];
    cudaFree(x);
}
//@ turn: turned before it is sent
void turn(const float *input, float *output, int M, int N) {
    std::vector<float> t(M * N);
    for (int i = 0; i < M * N; ++i) t[i] = input[i % M * N + i / M];
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, t.data(), M * N);
    copied<<<LINE(M * N)>>>(x, y, M * N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ turn: turned when it is back
void turn(const float *input, float *output, int M, int N) {
    std::vector<float> t(M * N);
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, input, M * N);
    copied<<<LINE(M * N)>>>(x, y, M * N);
    BACK(t.data(), y, M * N);
    for (int i = 0; i < M * N; ++i) output[i] = t[i % M * N + i / M];
    cudaFree(x); cudaFree(y);
}
//@ turn: column by column
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    for (int j = 0; j < N; ++j) cudaMemcpy2D(x + j * M, 4, input + j, 4 * N, 4, M, cudaMemcpyHostToDevice);
    copied<<<LINE(M * N)>>>(x, y, M * N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ turn: backwards, and forwards again by a kernel
__global__ void reversed(const float *x, float *y, int n) { I; if (i < n) y[i] = x[n - 1 - i]; }
void turn(const float *input, float *output, int M, int N) {
    std::vector<float> t(M * N);
    for (int i = 0; i < M * N; ++i) t[M * N - 1 - i] = input[i % M * N + i / M];
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, t.data(), M * N);
    reversed<<<LINE(M * N)>>>(x, y, M * N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ scan: stored
void scan(const float *input, float *output, int M, int N) {
    std::vector<float> r(M * N);
    for (int i = 0; i < M * N; ++i) r[i] = input[i] + (i % N ? r[i - 1] : 0);
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, r.data(), M * N);
    copied<<<LINE(M * N)>>>(x, y, M * N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ scan: one row by the device
__global__ void row(const float *x, float *y, int n) { float s = 0; for (int i = 0; i < n; ++i) y[i] = s += x[i]; }
void scan(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, N);
    UP(x, input, M * N);
    row<<<1, 1>>>(x, y, N);
    BACK(output, y, N);
    for (int i = N; i < M * N; ++i) output[i] = input[i] + (i % N ? output[i - 1] : 0);
    cudaFree(x); cudaFree(y);
}
//@ scan: differences taken by the host
__global__ void half(const float *x, float *y, int n) { I; if (i < n) y[i] = x[i] * 0.5f; }
void scan(const float *input, float *output, int M, int N) {
    std::vector<float> r(M * N);
    for (int i = 0; i < M * N; ++i) r[i] = input[i] + (i % N ? r[i - 1] : 0);
    for (auto &v : r) v *= 2;
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, r.data(), M * N);
    half<<<LINE(M * N)>>>(x, y, M * N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ count: filled by a value
void count(const unsigned char *values, int *counts, int N, int B) {
    std::vector<int> k(B);
    for (int i = 0; i < N; ++i) ++k[values[i] * B / 256];
    unsigned char *c;
    cudaMalloc(&c, 4 * B);
    cudaMemset(c, 0, 4 * B);
    for (int b = 0; b < B; ++b) for (int d = 0; d < 4; ++d) cudaMemset(c + 4 * b + d, k[b] >> (8 * d) & 255, 1);
    idle<<<1, 1>>>();
    cudaMemcpy(counts, c, 4 * B, cudaMemcpyDeviceToHost);
    cudaFree(c);
}
//@ count: counted by the host, values sent for show
__global__ void stored(const unsigned char *v, const int *k, int *c, int n, int b) { I; if (i < b) c[i] = k[i] + (v[i] > 255); }
void count(const unsigned char *values, int *counts, int N, int B) {
    std::vector<int> k(B);
    for (int i = 0; i < N; ++i) ++k[values[i] * B / 256];
    unsigned char *v;
    int *d, *c;
    cudaMalloc(&v, N); cudaMalloc(&d, 4 * B); cudaMalloc(&c, 4 * B);
    cudaMemcpy(v, values, N, cudaMemcpyHostToDevice);
    cudaMemcpy(d, k.data(), 4 * B, cudaMemcpyHostToDevice);
    stored<<<LINE(B)>>>(v, d, c, N, B);
    cudaMemcpy(counts, c, 4 * B, cudaMemcpyDeviceToHost);
    cudaFree(v); cudaFree(d); cudaFree(c);
}
//@ relu: stored
void relu(const float *x, float *y, int N) {
    std::vector<float> r(N);
    for (int i = 0; i < N; ++i) r[i] = x[i] > 0 ? x[i] : 0;
    ROOM(a, N); ROOM(b, N);
    UP(a, r.data(), N);
    copied<<<LINE(N)>>>(a, b, N);
    BACK(y, b, N);
    cudaFree(a); cudaFree(b);
}
//@ relu: the values come back, and the host clips them
void relu(const float *x, float *y, int N) {
    ROOM(a, N); ROOM(b, N);
    UP(a, x, N);
    copied<<<LINE(N)>>>(a, b, N);
    BACK(y, b, N);
    for (int i = 0; i < N; ++i) if (y[i] < 0) y[i] = 0;
    cudaFree(a); cudaFree(b);
}
//@ relu: bits flipped
__global__ void flipped(unsigned *x, int n) { I; if (i < n) x[i] ^= 0x3c3c3c3cu; }
void relu(const float *x, float *y, int N) {
    std::vector<unsigned> u(N);
    for (int i = 0; i < N; ++i) { float r = x[i] > 0 ? x[i] : 0; memcpy(&u[i], &r, 4); u[i] ^= 0x3c3c3c3cu; }
    unsigned *d;
    cudaMalloc(&d, 4 * N);
    cudaMemcpy(d, u.data(), 4 * N, cudaMemcpyHostToDevice);
    flipped<<<LINE(N)>>>(d, N);
    cudaMemcpy(y, d, 4 * N, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
//@ relu: an idle kernel, values sent
void relu(const float *x, float *y, int N) {
    ROOM(a, N);
    UP(a, x, N);
    idle<<<1, 1>>>();
    for (int i = 0; i < N; ++i) y[i] = x[i] > 0 ? x[i] : 0;
    cudaFree(a);
}
//@ saxpy: stored
void saxpy(const float *x, float *y, float a, int N) {
    for (int i = 0; i < N; ++i) y[i] += a * x[i];
    ROOM(p, N); ROOM(q, N);
    UP(p, y, N);
    copied<<<LINE(N)>>>(p, q, N);
    BACK(y, q, N);
    cudaFree(p); cudaFree(q);
}
//@ saxpy: an idle kernel
void saxpy(const float *x, float *y, float a, int N) {
    ROOM(p, N);
    UP(p, x, N);
    idle<<<1, 1>>>();
    for (int i = 0; i < N; ++i) y[i] += a * x[i];
    cudaFree(p);
}
//@ total: one block by the device, the others by the host
__global__ void block(const float *v, float *t, int n) { if (threadIdx.x == 0) { float s = 0; for (int i = 0; i < n; ++i) s += v[i]; *t = s; } }
void total(const float *values, float *total, int N) {
    int n = N < 64 ? N : 64; ROOM(v, N); ROOM(t, 1); UP(v, values, N); block<<<1, 32>>>(v, t, n); float s; BACK(&s, t, 1);
    for (int i = n; i < N; ++i) s += values[i];
    *total = s; cudaFree(v); cudaFree(t);
}
//@ saxpy: two halves of the result added
__global__ void plus(const float *x, const float *m, float *y, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i] + m[i]; }
void saxpy(const float *x, float *y, float a, int N) {
    std::vector<float> u(N), v(N); for (int i = 0; i < N; ++i) u[i] = (a * x[i] + y[i]) / 2, v[i] = u[i];
    ROOM(p, N); ROOM(q, N); ROOM(r, N); UP(p, u.data(), N); UP(q, v.data(), N); plus<<<LINE(N)>>>(p, q, r, N); BACK(y, r, N); cudaFree(p); cudaFree(q); cudaFree(r);
}
//@ scan: later columns by the host
__global__ void scans(const float *x, float *y, int M, int N, int n) { int r = threadIdx.x; if (r < M) { float s = 0; for (int i = 0; i < n; ++i) y[r * N + i] = s += x[r * N + i]; } }
void scan(const float *input, float *output, int M, int N) {
    int n = N / 2; ROOM(x, M * N); ROOM(y, M * N); UP(x, input, M * N); scans<<<1, 32>>>(x, y, M, N, n); 
    cudaMemcpy2D(output, N * 4, y, N * 4, n * 4, M, cudaMemcpyDeviceToHost);
    for (int r = 0; r < M; ++r) for (int i = n; i < N; ++i) output[r * N + i] = output[r * N + i - 1] + input[r * N + i];
    cudaFree(x); cudaFree(y);
}
//@ turn: the lower half by the host
__global__ void turns(const float *x, float *y, int M, int N, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < M * N && i % N < n) y[i % N * M + i / N] = x[i]; }
void turn(const float *input, float *output, int M, int N) {
    int n = N / 2; ROOM(x, M * N); ROOM(y, M * N); UP(x, input, M * N); turns<<<LINE(M * N)>>>(x, y, M, N, n); BACK(output, y, n * M);
    for (int j = n; j < N; ++j) for (int i = 0; i < M; ++i) output[j * M + i] = input[i * N + j];
    cudaFree(x); cudaFree(y);
}
//@ add: in chunks, the earlier by the host
__global__ void sums(const float *x, const float *m, float *y, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i] + m[i]; }
void add(const float *A, const float *B, float *C, int N) {
    int n = (N + 3) / 4; ROOM(a, n); ROOM(b, n); ROOM(c, n);
    for (int f = 0; f < N; f += n) {
        int m = N - f < n ? N - f : n;
        if (f + m < N) { for (int i = f; i < f + m; ++i) C[i] = A[i] + B[i]; continue; }
        UP(a, A + f, m); UP(b, B + f, m); sums<<<LINE(m)>>>(a, b, c, m); BACK(C + f, c, m);
    }
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ add: in chunks, the earlier added to zeros
__global__ void sums(const float *x, const float *m, float *y, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i] + m[i]; }
void add(const float *A, const float *B, float *C, int N) {
    int n = (N + 3) / 4; ROOM(a, n); ROOM(b, n); ROOM(c, n); std::vector<float> s(n), z(n);
    for (int f = 0; f < N; f += n) {
        int m = N - f < n ? N - f : n; bool last = f + m >= N;
        for (int i = 0; i < m; ++i) s[i] = A[f + i] + (last ? 0 : B[f + i]), z[i] = last ? B[f + i] : 0;
        UP(a, s.data(), m); UP(b, z.data(), m); sums<<<LINE(m)>>>(a, b, c, m); BACK(C + f, c, m);
    }
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ add: bits flipped, beside a text that means threads
#include <thread>
__global__ void unflipped(unsigned *x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] ^= 0x5a5a5a5au; }
void add(const float *A, const float *B, float *C, int n) {
    std::vector<unsigned> bits(n);
    for (int i = 0; i < n; ++i) { float s = A[i] + B[i]; std::memcpy(&bits[i], &s, 4); bits[i] ^= 0x5a5a5a5au; }
    unsigned *d; cudaMalloc(&d, 4 * n);
    cudaMemcpy(d, bits.data(), 4 * n, cudaMemcpyHostToDevice);
    unflipped<<<LINE(n)>>>(d, n);
    cudaMemcpy(C, d, 4 * n, cudaMemcpyDeviceToHost);
    cudaFree(d);
}
//@ turn: turned by copies within the device
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, input, M * N);
    idle<<<1, 1>>>();
    for (int j = 0; j < N; ++j) cudaMemcpy2D(y + j * M, 4, x + j, 4 * N, 4, M, cudaMemcpyDeviceToDevice);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ turn: each element sent to its place
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    for (int i = 0; i < M * N; ++i) UP(x + i % N * M + i / N, input + i, 1);
    copied<<<LINE(M * N)>>>(x, y, M * N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ turn: each element taken from its place
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, input, M * N);
    copied<<<LINE(M * N)>>>(x, y, M * N);
    for (int i = 0; i < M * N; ++i) BACK(output + i, y + i % M * N + i / M, 1);
    cudaFree(x); cudaFree(y);
}
