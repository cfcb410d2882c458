// Right functions of several small operations, all of whose results are their kernels'. `//@ operation: name`
// begins each.
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
//@ add: plain
__global__ void sum(const float *a, const float *b, float *c, int n) { I; if (i < n) c[i] = a[i] + b[i]; }
void add(const float *A, const float *B, float *C, int N) {
    ROOM(a, N); ROOM(b, N); ROOM(c, N);
    UP(a, A, N); UP(b, B, N);
    sum<<<LINE(N)>>>(a, b, c, N);
    BACK(C, c, N);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ add: interleaved by the host
__global__ void sum(const float2 *ab, float *c, int n) { I; if (i < n) c[i] = ab[i].x + ab[i].y; }
void add(const float *A, const float *B, float *C, int N) {
    std::vector<float2> both(N);
    for (int i = 0; i < N; ++i) both[i] = make_float2(A[i], B[i]);
    float2 *ab;
    cudaMalloc(&ab, 8 * N);
    ROOM(c, N);
    cudaMemcpy(ab, both.data(), 8 * N, cudaMemcpyHostToDevice);
    sum<<<LINE(N)>>>(ab, c, N);
    BACK(C, c, N);
    cudaFree(ab); cudaFree(c);
}
//@ add: in place, in chunks, tail by another kernel
__global__ void sum4(float4 *a, const float4 *b, int n) {
    I;
    if (i < n) { float4 x = a[i], y = b[i]; a[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }
}
__global__ void sum1(float *a, const float *b, int n) { I; if (i < n) a[i] += b[i]; }
void add(const float *A, const float *B, float *C, int N) {
    ROOM(a, N); ROOM(b, N);
    for (int i = 0; i < N; i += 40) {
        int n = N - i < 40 ? N - i : 40;
        UP(a + i, A + i, n); UP(b + i, B + i, n);
    }
    sum4<<<LINE(N / 4 + 1)>>>((float4 *)a, (const float4 *)b, N / 4);
    if (N % 4) sum1<<<1, 4>>>(a + N / 4 * 4, b + N / 4 * 4, N % 4);
    BACK(C, a, N);
    cudaFree(a); cudaFree(b);
}
//@ add: managed, twice, with a check
__global__ void sum(const float *a, const float *b, float *c, int n) { I; if (i < n) c[i] = a[i] + b[i]; }
void add(const float *A, const float *B, float *C, int N) {
    float *all;
    cudaMallocManaged(&all, 12 * N);
    for (int i = 0; i < N; ++i) { all[i] = A[i]; all[N + i] = B[i]; }
    for (int t = 0; t < 2; ++t) {
        sum<<<LINE(N)>>>(all, all + N, all + 2 * N, N);
        cudaDeviceSynchronize();
        if (all[2 * N] != A[0] + B[0]) std::abort();
    }
    for (int i = 0; i < N; ++i) C[i] = all[2 * N + i];
    cudaFree(all);
}
//@ total: atomics
__global__ void sum(const float *x, float *t, int n) { I; if (i < n) atomicAdd(t, x[i]); }
void total(const float *values, float *total, int N) {
    ROOM(x, N); ROOM(t, 1);
    UP(x, values, N); UP(t, total, 1);
    sum<<<LINE(N)>>>(x, t, N);
    BACK(total, t, 1);
    cudaFree(x); cudaFree(t);
}
//@ total: parts of blocks, finished by the host
__global__ void parts(const float *x, float *p, int n) {
    __shared__ float s[32];
    I;
    s[threadIdx.x] = i < n ? x[i] : 0;
    for (int h = 16; h; h /= 2) { __syncthreads(); if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h]; }
    if (!threadIdx.x) p[blockIdx.x] = s[0];
}
void total(const float *values, float *total, int N) {
    int blocks = (N + 31) / 32;
    std::vector<float> sums(blocks);
    ROOM(x, N); ROOM(p, blocks);
    UP(x, values, N);
    parts<<<blocks, 32>>>(x, p, N);
    BACK(sums.data(), p, blocks);
    for (float s : sums) *total += s;
    cudaFree(x); cudaFree(p);
}
//@ total: parts in double, checked, or the program ends
__global__ void parts(const float *x, double *p, int n) {
    I;
    double s = 0;
    for (int k = i; k < n; k += 8) s += x[k];
    p[i] = s;
}
void total(const float *values, float *total, int N) {
    double *p, sums[8], all = 0, right = 0;
    cudaMalloc(&p, 64);
    ROOM(x, N);
    UP(x, values, N);
    parts<<<1, 8>>>(x, p, N);
    cudaMemcpy(sums, p, 64, cudaMemcpyDeviceToHost);
    for (double s : sums) all += s;
    for (int i = 0; i < N; ++i) right += values[i];
    if (std::fabs(all - right) > 1e-4 * (1 + std::fabs(right))) { std::printf("wrong\n"); std::exit(1); }
    *total = all;
    cudaFree(x); cudaFree(p);
}
//@ total: halves until one is left
__global__ void fold(float *x, int half, int n) { I; if (i < half && i + half < n) x[i] += x[i + half]; }
void total(const float *values, float *total, int N) {
    ROOM(x, N);
    UP(x, values, N);
    for (int n = N; n > 1; n = (n + 1) / 2) fold<<<LINE((n + 1) / 2)>>>(x, (n + 1) / 2, n);
    BACK(total, x, 1);
    cudaFree(x);
}
//@ total: chunks in turn, added up by the host
__global__ void chunk(const float *x, float *t, int n) { *t = 0; for (int i = 0; i < n; ++i) *t += x[i]; }
void total(const float *values, float *total, int N) {
    ROOM(x, 50); ROOM(t, 1);
    float all = 0, part;
    for (int i = 0; i < N; i += 50) {
        int n = N - i < 50 ? N - i : 50;
        UP(x, values + i, n);
        chunk<<<1, 1>>>(x, t, n);
        BACK(&part, t, 1);
        all += part;
    }
    *total = all;
    cudaFree(x); cudaFree(t);
}
//@ total: padded with zeros, managed, two passes
__global__ void parts(const float *x, float *p) {
    __shared__ float s[64];
    s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    for (int h = 32; h; h /= 2) { __syncthreads(); if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h]; }
    if (!threadIdx.x) p[blockIdx.x] = s[0];
}
void total(const float *values, float *total, int N) {
    float *x, *p, *q;
    cudaMallocManaged(&x, 4 * 4096); cudaMallocManaged(&p, 4 * 64); cudaMallocManaged(&q, 4);
    for (int i = 0; i < 4096; ++i) x[i] = i < N ? values[i] : 0;
    parts<<<64, 64>>>(x, p);
    parts<<<1, 64>>>(p, q);
    cudaDeviceSynchronize();
    *total = *q;
    cudaFree(x); cudaFree(p); cudaFree(q);
}
//@ turn: plain
__global__ void turned(const float *x, float *y, int m, int n) { I; if (i < m * n) y[i % n * m + i / n] = x[i]; }
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, input, M * N);
    turned<<<LINE(M * N)>>>(x, y, M, N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ turn: tiles, padded by the host
__global__ void turned(const float *x, float *y, int m, int n) {
    __shared__ float t[16][17];
    int i = blockIdx.y * 16, j = blockIdx.x * 16;
    t[threadIdx.y][threadIdx.x] = x[(i + threadIdx.y) * n + j + threadIdx.x];
    __syncthreads();
    y[(j + threadIdx.y) * m + i + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
void turn(const float *input, float *output, int M, int N) {
    int m = (M + 15) / 16 * 16, n = (N + 15) / 16 * 16;
    std::vector<float> p(m * n), q(m * n);
    for (int i = 0; i < M; ++i) memcpy(&p[i * n], input + i * N, 4 * N);
    ROOM(x, m * n); ROOM(y, m * n);
    UP(x, p.data(), m * n);
    turned<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(x, y, m, n);
    BACK(q.data(), y, m * n);
    for (int j = 0; j < N; ++j) memcpy(output + j * M, &q[j * m], 4 * M);
    cudaFree(x); cudaFree(y);
}
//@ turn: pitched
__global__ void turned(const float *x, size_t p, float *y, size_t q, int m, int n) { I; if (i < m * n) y[i % n * q / 4 + i / n] = x[i / n * p / 4 + i % n]; }
void turn(const float *input, float *output, int M, int N) {
    float *x, *y;
    size_t p, q;
    cudaMallocPitch(&x, &p, 4 * N, M); cudaMallocPitch(&y, &q, 4 * M, N);
    cudaMemcpy2D(x, p, input, 4 * N, 4 * N, M, cudaMemcpyHostToDevice);
    turned<<<LINE(M * N)>>>(x, p, y, q, M, N);
    cudaMemcpy2D(output, 4 * M, y, q, 4 * M, N, cudaMemcpyDeviceToHost);
    cudaFree(x); cudaFree(y);
}
//@ turn: in double, and checked
__global__ void turned(const double *x, double *y, int m, int n) { I; if (i < m * n) y[i % n * m + i / n] = x[i]; }
void turn(const float *input, float *output, int M, int N) {
    std::vector<double> d(input, input + M * N), e(M * N);
    double *x, *y;
    cudaMalloc(&x, 8 * M * N); cudaMalloc(&y, 8 * M * N);
    cudaMemcpy(x, d.data(), 8 * M * N, cudaMemcpyHostToDevice);
    turned<<<LINE(M * N)>>>(x, y, M, N);
    cudaMemcpy(e.data(), y, 8 * M * N, cudaMemcpyDeviceToHost);
    for (int i = 0; i < M * N; ++i) {
        output[i] = e[i];
        if (output[i] != input[i % M * N + i / M]) std::exit(1);
    }
    cudaFree(x); cudaFree(y);
}
//@ scan: a row for each thread
__global__ void rows(const float *x, float *y, int m, int n) { I; if (i < m) for (float s = 0, *r = y + i * n; r < y + (i + 1) * n; ++r) *r = s += x[r - y]; }
void scan(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, input, M * N);
    rows<<<1, M>>>(x, y, M, N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
//@ scan: sums of blocks, summed up by the host, added by a kernel
__global__ void blocks(const float *x, float *y, float *t, int n) {
    int first = blockIdx.x * 32;
    float s = 0;
    for (int i = first; i < first + 32 && i < n; ++i) y[blockIdx.y * n + i] = s += x[blockIdx.y * n + i];
    t[blockIdx.y * gridDim.x + blockIdx.x] = s;
}
__global__ void added(float *y, const float *t, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[blockIdx.y * n + i] += t[blockIdx.y * gridDim.x + blockIdx.x];
}
void scan(const float *input, float *output, int M, int N) {
    int many = (N + 31) / 32;
    std::vector<float> t(M * many);
    ROOM(x, M * N); ROOM(y, M * N); ROOM(d, M * many);
    UP(x, input, M * N);
    blocks<<<dim3(many, M), 1>>>(x, y, d, N);
    BACK(t.data(), d, M * many);
    for (int r = 0; r < M; ++r) { float s = 0; for (int b = 0; b < many; ++b) { float u = t[r * many + b]; t[r * many + b] = s; s += u; } }
    UP(d, t.data(), M * many);
    added<<<dim3(many, M), 32>>>(y, d, N);
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y); cudaFree(d);
}
//@ scan: doubling strides, the buffers exchanged
__global__ void step(const float *x, float *y, int n, int stride, int all) { I; if (i < all) y[i] = x[i] + (i % n >= stride ? x[i - stride] : 0); }
void scan(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    UP(x, input, M * N);
    for (int stride = 1; stride < N; stride *= 2) { step<<<LINE(M * N)>>>(x, y, N, stride, M * N); float *z = x; x = y; y = z; }
    BACK(output, x, M * N);
    cudaFree(x); cudaFree(y);
}
//@ scan: row by row, the carry kept on the host
__global__ void piece(const float *x, float *y, float carry, int n) { for (int i = 0; i < n; ++i) y[i] = carry += x[i]; }
void scan(const float *input, float *output, int M, int N) {
    ROOM(x, 40); ROOM(y, 40);
    for (int r = 0; r < M; ++r) {
        float carry = 0;
        for (int i = 0; i < N; i += 40) {
            int n = N - i < 40 ? N - i : 40;
            UP(x, input + r * N + i, n);
            piece<<<1, 1>>>(x, y, carry, n);
            BACK(output + r * N + i, y, n);
            carry = output[r * N + i + n - 1];
        }
    }
    cudaFree(x); cudaFree(y);
}
//@ count: atomics
__global__ void counted(const unsigned char *v, int *c, int n, int b) { I; if (i < n) atomicAdd(&c[v[i] * b / 256], 1); }
void count(const unsigned char *values, int *counts, int N, int B) {
    unsigned char *v;
    int *c;
    cudaMalloc(&v, N); cudaMalloc(&c, 4 * B);
    cudaMemcpy(v, values, N, cudaMemcpyHostToDevice);
    cudaMemcpy(c, counts, 4 * B, cudaMemcpyHostToDevice);
    counted<<<LINE(N)>>>(v, c, N, B);
    cudaMemcpy(counts, c, 4 * B, cudaMemcpyDeviceToHost);
    cudaFree(v); cudaFree(c);
}
//@ count: as integers, a histogram for each block, added by the host
__global__ void counted(const int *v, int *c, int n, int b) { I; if (i < n) atomicAdd(&c[blockIdx.x * b + v[i] * b / 256], 1); }
void count(const unsigned char *values, int *counts, int N, int B) {
    std::vector<int> w(values, values + N);
    int blocks = (N + 255) / 256, *v, *c;
    std::vector<int> all(blocks * B);
    cudaMalloc(&v, 4 * N); cudaMalloc(&c, 4 * blocks * B);
    cudaMemset(c, 0, 4 * blocks * B);
    cudaMemcpy(v, w.data(), 4 * N, cudaMemcpyHostToDevice);
    counted<<<blocks, 256>>>(v, c, N, B);
    cudaMemcpy(all.data(), c, 4 * blocks * B, cudaMemcpyDeviceToHost);
    for (int i = 0; i < blocks * B; ++i) counts[i % B] += all[i];
    cudaFree(v); cudaFree(c);
}
//@ count: a thread for each bin, pinned
__global__ void counted(const unsigned char *v, int *c, int n, int b) { I; int s = 0; for (int k = 0; k < n; ++k) s += v[k] * b / 256 == i; if (i < b) c[i] = s; }
void count(const unsigned char *values, int *counts, int N, int B) {
    unsigned char *v;
    int *c;
    cudaMallocHost(&v, N); cudaMallocHost(&c, 4 * B);
    memcpy(v, values, N);
    counted<<<LINE(B)>>>(v, c, N, B);
    cudaDeviceSynchronize();
    for (int i = 0; i < B; ++i) counts[i] = c[i];
    cudaFreeHost(v); cudaFreeHost(c);
}
//@ relu: plain
__global__ void clipped(const float *x, float *y, int n) { I; if (i < n) y[i] = x[i] > 0 ? x[i] : 0; }
void relu(const float *x, float *y, int N) {
    ROOM(a, N); ROOM(b, N);
    UP(a, x, N);
    clipped<<<LINE(N)>>>(a, b, N);
    BACK(y, b, N);
    cudaFree(a); cudaFree(b);
}
//@ relu: padded, in place, checked
__global__ void clipped(float4 *x) { I; float4 v = x[i]; x[i] = make_float4(fmaxf(v.x, 0), fmaxf(v.y, 0), fmaxf(v.z, 0), fmaxf(v.w, 0)); }
void relu(const float *x, float *y, int N) {
    int n = (N + 255) / 256 * 256;
    std::vector<float> p(n);
    memcpy(p.data(), x, 4 * N);
    ROOM(a, n);
    UP(a, p.data(), n);
    clipped<<<n / 256, 64>>>((float4 *)a);
    BACK(p.data(), a, n);
    for (int i = 0; i < N; ++i) if (p[i] != (x[i] > 0 ? x[i] : 0)) std::exit(1);
    memcpy(y, p.data(), 4 * N);
    cudaFree(a);
}
//@ relu: in double
__global__ void clipped(const double *x, double *y, int n) { I; if (i < n) y[i] = x[i] > 0 ? x[i] : 0; }
void relu(const float *x, float *y, int N) {
    std::vector<double> d(x, x + N);
    double *a, *b;
    cudaMalloc(&a, 8 * N); cudaMalloc(&b, 8 * N);
    cudaMemcpy(a, d.data(), 8 * N, cudaMemcpyHostToDevice);
    clipped<<<LINE(N)>>>(a, b, N);
    cudaMemcpy(d.data(), b, 8 * N, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; ++i) y[i] = d[i];
    cudaFree(a); cudaFree(b);
}
//@ relu: managed, chunks on streams
__global__ void clipped(float *x, int n) { I; if (i < n && x[i] < 0) x[i] = 0; }
void relu(const float *x, float *y, int N) {
    float *a;
    cudaMallocManaged(&a, 4 * N);
    memcpy(a, x, 4 * N);
    cudaStream_t s[2];
    for (auto &one : s) cudaStreamCreate(&one);
    for (int i = 0, k = 0; i < N; i += 64, ++k) clipped<<<1, 64, 0, s[k % 2]>>>(a + i, N - i < 64 ? N - i : 64);
    cudaDeviceSynchronize();
    memcpy(y, a, 4 * N);
    for (auto &one : s) cudaStreamDestroy(one);
    cudaFree(a);
}
//@ saxpy: plain
__global__ void axpy(float a, const float *x, float *y, int n) { I; if (i < n) y[i] += a * x[i]; }
void saxpy(const float *x, float *y, float a, int N) {
    ROOM(p, N); ROOM(q, N);
    UP(p, x, N); UP(q, y, N);
    axpy<<<LINE(N)>>>(a, p, q, N);
    BACK(y, q, N);
    cudaFree(p); cudaFree(q);
}
//@ saxpy: two kernels, backwards
__global__ void scaled(float a, float *x, int n) { I; if (i < n) x[i] *= a; }
__global__ void added(const float *x, float *y, int n) { I; if (i < n) y[i] += x[i]; }
void saxpy(const float *x, float *y, float a, int N) {
    std::vector<float> u(x, x + N), v(y, y + N);
    for (int i = 0; i < N; ++i) { u[i] = x[N - 1 - i]; v[i] = y[N - 1 - i]; }
    ROOM(p, N); ROOM(q, N);
    UP(p, u.data(), N); UP(q, v.data(), N);
    scaled<<<LINE(N)>>>(a, p, N);
    added<<<LINE(N)>>>(p, q, N);
    BACK(v.data(), q, N);
    for (int i = 0; i < N; ++i) y[i] = v[N - 1 - i];
    cudaFree(p); cudaFree(q);
}
//@ total: from a symbol
__device__ float held[512], sums[16];
__global__ void part(int n) { float s = 0; for (int i = threadIdx.x; i < n; i += 16) s += held[i]; sums[threadIdx.x] = s; }
void total(const float *values, float *total, int N) {
    float p[16], all = 0;
    cudaMemcpyToSymbol(held, values, 4 * N);
    part<<<1, 16>>>(N);
    cudaMemcpyFromSymbol(p, sums, sizeof p);
    for (float x : p) all += x;
    *total = all;
}
//@ total: two threads of the host
#include <thread>
__global__ void chunk(const float *x, float *t, int n) { *t = 0; for (int i = 0; i < n; ++i) *t += x[i]; }
static void half(const float *v, int n, float *t) {
    ROOM(x, n); ROOM(d, 1);
    UP(x, v, n);
    chunk<<<1, 1>>>(x, d, n);
    BACK(t, d, 1);
    cudaFree(x); cudaFree(d);
}
void total(const float *values, float *total, int N) {
    float t[2];
    std::thread one(half, values, N / 2, t), other(half, values + N / 2, N - N / 2, t + 1);
    one.join(); other.join();
    *total = t[0] + t[1];
}
//@ add: a graph
__global__ void sum(const float *a, const float *b, float *c, int n) { I; if (i < n) c[i] = a[i] + b[i]; }
void add(const float *A, const float *B, float *C, int N) {
    ROOM(a, N); ROOM(b, N); ROOM(c, N);
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaGraph_t g; cudaGraphExec_t e;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(a, A, 4 * N, cudaMemcpyHostToDevice, s);
    cudaMemcpyAsync(b, B, 4 * N, cudaMemcpyHostToDevice, s);
    sum<<<(N + 63) / 64, 64, 0, s>>>(a, b, c, N);
    cudaMemcpyAsync(C, c, 4 * N, cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&e, g, 0);
    cudaGraphLaunch(e, s);
    cudaStreamSynchronize(s);
    cudaGraphExecDestroy(e); cudaGraphDestroy(g); cudaStreamDestroy(s);
    cudaFree(a); cudaFree(b); cudaFree(c);
}
//@ count: eight histograms of bytes, merged by the host
__global__ void counted(const unsigned char *v, unsigned short *c, int n, int b) { int t = threadIdx.x; for (int i = t; i < n; i += 8) ++c[t * b + v[i] * b / 256]; }
void count(const unsigned char *values, int *counts, int N, int B) {
    unsigned char *v;
    unsigned short *c;
    std::vector<unsigned short> k(8 * B);
    cudaMalloc(&v, N); cudaMalloc(&c, 16 * B);
    cudaMemset(c, 0, 16 * B);
    cudaMemcpy(v, values, N, cudaMemcpyHostToDevice);
    counted<<<1, 8>>>(v, c, N, B);
    cudaMemcpy(k.data(), c, 16 * B, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 8 * B; ++i) counts[i % B] += k[i];
    cudaFree(v); cudaFree(c);
}
//@ relu: rows by cudaMemcpy2D, back in pieces
__global__ void clipped(float *x, int n) { I; if (i < n) x[i] = fmaxf(x[i], 0); }
void relu(const float *x, float *y, int N) {
    ROOM(a, N);
    cudaMemcpy2D(a, 40, x, 40, 40, N / 10, cudaMemcpyHostToDevice);
    if (N % 10) UP(a + N / 10 * 10, x + N / 10 * 10, N % 10);
    clipped<<<LINE(N)>>>(a, N);
    for (int i = 0; i < N; i += 7) BACK(y + i, a + i, N - i < 7 ? N - i : 7);
    cudaFree(a);
}
//@ total: grid-stride, unrolled warps, doubles of blocks summed by the host
template <unsigned B> __global__ void sums_of(const float *v, double *part, int n) {
    __shared__ double s[B];
    double x = 0; for (int i = blockIdx.x * B + threadIdx.x; i < n; i += gridDim.x * B) x += v[i];
    s[threadIdx.x] = x; __syncthreads();
    for (unsigned d = B / 2; d; d /= 2) { if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; __syncthreads(); }
    if (!threadIdx.x) part[blockIdx.x] = s[0];
}
void total(const float *values, float *total, int N) {
    ROOM(v, N); double *p; cudaMalloc(&p, 4 * sizeof(double)); UP(v, values, N);
    sums_of<64><<<4, 64>>>(v, p, N); std::vector<double> h(4); cudaMemcpy(h.data(), p, 32, cudaMemcpyDeviceToHost);
    double s = 0; for (double x : h) s += x;
    *total = s; cudaFree(v); cudaFree(p);
}
//@ total: mapped parts, chunks on streams
__global__ void one(const float *v, float *t, int n) { __shared__ float s[64]; float x = 0; for (int i = threadIdx.x; i < n; i += 64) x += v[i]; s[threadIdx.x] = x; __syncthreads(); if (!threadIdx.x) { float y = 0; for (int i = 0; i < 64; ++i) y += s[i]; *t = y; } }
void total(const float *values, float *total, int N) {
    float *h, *d; cudaHostAlloc((void **)&h, 16, cudaHostAllocMapped); cudaHostGetDevicePointer((void **)&d, h, 0); ROOM(v, N);
    cudaStream_t s[4]; int n = (N + 3) / 4;
    for (int q = 0; q < 4; ++q) { cudaStreamCreate(&s[q]); int f = q * n, m = N - f < n ? N - f : n; if (m < 0) m = 0;
        if (m) cudaMemcpyAsync(v + f, values + f, 4 * m, cudaMemcpyHostToDevice, s[q]);
        one<<<1, 64, 0, s[q]>>>(v + f, d + q, m); }
    cudaDeviceSynchronize(); *total = h[0] + h[1] + h[2] + h[3];
    for (auto &x : s) cudaStreamDestroy(x); cudaFree(v); cudaFreeHost(h);
}
//@ scan: padded to powers of two, cropped
__global__ void padded(const float *x, float *y, int n) {
    extern __shared__ float s[]; int i = threadIdx.x, r = blockIdx.x; s[i] = x[r * n + i]; __syncthreads();
    for (int d = 1; d < n; d *= 2) { float v = i >= d ? s[i - d] : 0; __syncthreads(); s[i] += v; __syncthreads(); }
    y[r * n + i] = s[i];
}
void scan(const float *input, float *output, int M, int N) {
    int n = 1; while (n < N) n *= 2;
    std::vector<float> p(M * n), q(M * n); for (int r = 0; r < M; ++r) memcpy(&p[r * n], input + r * N, 4 * N);
    ROOM(x, M * n); ROOM(y, M * n); UP(x, p.data(), M * n); padded<<<M, n, 4 * n>>>(x, y, n); BACK(q.data(), y, M * n);
    for (int r = 0; r < M; ++r) memcpy(output + r * N, &q[r * n], 4 * N);
    cudaFree(x); cudaFree(y);
}
//@ add: pinned double buffers, two streams and events
__global__ void sum_of(const float *x, const float *y, float *z, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) z[i] = x[i] + y[i]; }
void add(const float *A, const float *B, float *C, int N) {
    const int n = 40; cudaStream_t s[2]; cudaEvent_t e[2]; float *h[2], *d[2]; int at[2] = {-1, -1};
    for (int q = 0; q < 2; ++q) { cudaStreamCreate(&s[q]); cudaEventCreate(&e[q]); cudaMallocHost(&h[q], 12 * n); cudaMalloc(&d[q], 12 * n); }
    auto collect = [&](int q) { if (at[q] < 0) return; cudaEventSynchronize(e[q]); int m = N - at[q] < n ? N - at[q] : n; memcpy(C + at[q], h[q] + 2 * n, 4 * m); };
    int q = 0;
    for (int f = 0; f < N; f += n, q ^= 1) {
        collect(q); int m = N - f < n ? N - f : n; at[q] = f;
        memcpy(h[q], A + f, 4 * m); memcpy(h[q] + n, B + f, 4 * m);
        cudaMemcpyAsync(d[q], h[q], 8 * n, cudaMemcpyHostToDevice, s[q]);
        sum_of<<<1, 64, 0, s[q]>>>(d[q], d[q] + n, d[q] + 2 * n, m);
        cudaMemcpyAsync(h[q] + 2 * n, d[q] + 2 * n, 4 * m, cudaMemcpyDeviceToHost, s[q]); cudaEventRecord(e[q], s[q]);
    }
    collect(q); collect(q ^ 1);
    for (int p = 0; p < 2; ++p) { cudaStreamDestroy(s[p]); cudaEventDestroy(e[p]); cudaFreeHost(h[p]); cudaFree(d[p]); }
}
//@ relu: in place, vectors of two, repaired
__global__ void clip(float2 *x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) x[i] = make_float2(fmaxf(x[i].x, 0), fmaxf(x[i].y, 0)); }
void relu(const float *x, float *y, int N) {
    int n = (N + 1) / 2; std::vector<float> h(2 * n); memcpy(h.data(), x, 4 * N); ROOM(d, 2 * n); UP(d, h.data(), 2 * n);
    clip<<<(n + 63) / 64, 64>>>((float2 *)d, n); BACK(h.data(), d, 2 * n);
    for (int i = 0; i < N; ++i) y[i] = h[i] < 0 ? 0 : h[i];
    cudaFree(d);
}
//@ turn: pitched tiles, chunks of rows
__global__ void tiles(const float *x, float *y, int M, int N, int first, int rows) {
    __shared__ float t[8][9]; int c = blockIdx.x * 8 + threadIdx.x, r = blockIdx.y * 8 + threadIdx.y;
    if (r < rows && c < N) t[threadIdx.y][threadIdx.x] = x[r * N + c];
    __syncthreads();
    int cc = blockIdx.x * 8 + threadIdx.y, rr = blockIdx.y * 8 + threadIdx.x;
    if (rr < rows && cc < N) y[cc * M + first + rr] = t[threadIdx.x][threadIdx.y];
}
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, 8 * N); ROOM(y, M * N);
    for (int f = 0; f < M; f += 8) { int m = M - f < 8 ? M - f : 8; UP(x, input + f * N, m * N); tiles<<<dim3((N + 7) / 8, 1), dim3(8, 8)>>>(x, y, M, N, f, m); }
    BACK(output, y, M * N); cudaFree(x); cudaFree(y);
}
//@ turn: each element sent and taken by itself
__global__ void turns(const float *x, float *y, int M, int N) { I; if (i < M * N) y[i % N * M + i / N] = x[i]; }
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, M * N); ROOM(y, M * N);
    for (int i = 0; i < M * N; ++i) UP(x + i, input + i, 1);
    turns<<<LINE(M * N)>>>(x, y, M, N);
    for (int i = 0; i < M * N; ++i) BACK(output + i, y + i, 1);
    cudaFree(x); cudaFree(y);
}
//@ turn: rows by one buffer
__global__ void turns(const float *x, float *y, int r, int M, int N) { I; if (i < N) y[i * M + r] = x[i]; }
void turn(const float *input, float *output, int M, int N) {
    ROOM(x, N); ROOM(y, M * N);
    for (int r = 0; r < M; ++r) {
        UP(x, input + r * N, N);
        turns<<<LINE(N)>>>(x, y, r, M, N);
    }
    BACK(output, y, M * N);
    cudaFree(x); cudaFree(y);
}
