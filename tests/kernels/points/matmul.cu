// C = A · B: names that begin with `h` compute it in their kernel, those with `d` do not.
#include "programs.h"
constexpr int M = 20, K = 24, N = 18, SIZE = M * N, BLOCKS = (SIZE + 127) / 128;
static const Vec a = numbers(M * K, 7), b = numbers(K * N, 5);
static Vec product(const Vec& x = a, const Vec& y = b) {
    Vec c(SIZE);
    for (int i = 0; i < SIZE; ++i) for (int k = 0; k < K; ++k) c[i] += x[i / N * K + k] * y[k * N + i % N];
    return c;
}
static Vec turned() { Vec t(K * N); for (int i = 0; i < K * N; ++i) t[i % N * K + i / N] = b[i]; return t; }
__device__ float dot(const float* A, const float* B, int i, int from = 0, int to = K) {
    float s = 0;
    for (int k = from; k < to; ++k) s += A[i / N * K + k] * B[k * N + i % N];
    return s;
}
#define ARGS const float *A, const float *B, float *C
#define MINE int i = AT; if (i >= SIZE) return
#define DEVICE float *A = sent(a), *B = sent(b), *C = empty<float>(SIZE)
#define HOST DEVICE, *R = sent(product())
static Vec tenths(Vec v) { for (float& x : v) x *= 0.1f; return v; }
#define HOST_TENTHS \
    const Vec x = tenths(a), y = tenths(b); \
    float *A = sent(x), *B = sent(y), *C = empty<float>(SIZE), *R = sent(product(x, y))

// --- computed by the kernel

__global__ void h_plain(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_plain) { DEVICE; h_plain<<<BLOCKS, 128>>>(A, B, C); }

__global__ void h_tiled(ARGS) {
    __shared__ float x[8][8], y[8][8];
    int r = blockIdx.y * 8 + threadIdx.y, c = blockIdx.x * 8 + threadIdx.x;
    float s = 0;
    for (int t = 0; t < K; t += 8) {
        x[threadIdx.y][threadIdx.x] = r < M ? A[r * K + t + threadIdx.x] : 0;
        y[threadIdx.y][threadIdx.x] = c < N ? B[(t + threadIdx.y) * N + c] : 0;
        __syncthreads();
        for (int k = 0; k < 8; ++k) s += x[threadIdx.y][k] * y[k][threadIdx.x];
        __syncthreads();
    }
    if (r < M && c < N) C[r * N + c] = s;
}
PROGRAM(h_tiled) { DEVICE; h_tiled<<<dim3(3, 3), dim3(8, 8)>>>(A, B, C); }

__global__ void h_turned(ARGS, const float* T) {
    MINE; float s = 0;
    for (int k = 0; k < K; ++k) s += A[i / N * K + k] * T[i % N * K + k];
    C[i] = s;
}
PROGRAM(h_turned) { DEVICE; h_turned<<<BLOCKS, 128>>>(A, B, C, sent(turned())); }

__global__ void h_padded(ARGS, const float* P) {
    MINE; float s = 0;
    for (int k = 0; k < K; ++k) s += A[i / N * K + k] * P[k * 32 + i % N];
    C[i] = s;
}
PROGRAM(h_padded) {
    DEVICE; Vec p(K * 32);
    for (int i = 0; i < K * N; ++i) p[i / N * 32 + i % N] = b[i];
    h_padded<<<BLOCKS, 128>>>(A, B, C, sent(p));
}

__global__ void h_grown_to_tiles(ARGS, int m, int k, int n) {
    int i = AT; if (i >= m * n) return;
    float s = 0;
    for (int q = 0; q < k; ++q) s += A[i / n * k + q] * B[q * n + i % n];
    C[i] = s;
}
static Vec grown(const Vec& x, int rows, int columns, int width) {
    Vec g(32 * width);
    for (int i = 0; i < rows * columns; ++i) g[i / columns * width + i % columns] = x[i];
    return g;
}
PROGRAM(h_grown_to_tiles) {
    float *A = sent(grown(a, M, K, 32)), *B = sent(grown(b, K, N, 32)), *C = empty<float>(32 * 32);
    h_grown_to_tiles<<<8, 128>>>(A, B, C, 32, 32, 32);
}

__global__ void h_halved_by_host(ARGS, const __half* H) {
    MINE; float s = 0;
    for (int k = 0; k < K; ++k) s += A[i / N * K + k] * __half2float(H[k * N + i % N]);
    C[i] = s;
}
PROGRAM(h_halved_by_host) {
    DEVICE; std::vector<__half> h(K * N);
    for (int i = 0; i < K * N; ++i) h[i] = __float2half(b[i]);
    h_halved_by_host<<<BLOCKS, 128>>>(A, B, C, sent(h));
}

__constant__ float constant[K * N];
__global__ void h_constant(ARGS) { MINE; C[i] = dot(A, constant, i); }
PROGRAM(h_constant) { DEVICE; cudaMemcpyToSymbol(constant, b.data(), sizeof constant); h_constant<<<BLOCKS, 128>>>(A, B, C); }

__global__ void h_parts(ARGS, int from, int to) { MINE; C[i] += dot(A, B, i, from, to); }
PROGRAM(h_parts) {
    DEVICE;
    for (int again = 0; again < 3; ++again) {
        cudaMemset(C, 0, SIZE * 4);
        for (int k = 0; k < K; k += 8) h_parts<<<BLOCKS, 128>>>(A, B, C, k, k + 8);
    }
}

__global__ void h_many_parts(ARGS, int k) { MINE; C[i] = (k ? C[i] : 0) + dot(A, B, i, k, k + 1); }
PROGRAM(h_many_parts) { DEVICE; for (int k = 0; k < K; ++k) h_many_parts<<<BLOCKS, 128>>>(A, B, C, k); }

__global__ void h_rows(ARGS, int row) { int i = row * N + threadIdx.x; C[i] = dot(A, B, i); }
PROGRAM(h_rows) { DEVICE; for (int r = 0; r < M; ++r) h_rows<<<1, N>>>(A, B, C, r); }

__global__ void h_managed(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_managed) {
    float *A, *B, *C;
    cudaMallocManaged(&A, M * K * 4), cudaMallocManaged(&B, K * N * 4), cudaMallocManaged(&C, SIZE * 4);
    std::memcpy(A, a.data(), M * K * 4), std::memcpy(B, b.data(), K * N * 4);
    h_managed<<<BLOCKS, 128>>>(A, B, C);
    cudaDeviceSynchronize();
    const Vec r = product();
    for (int i = 0; i < SIZE; ++i) if (C[i] != r[i]) std::puts("wrong");
}

__global__ void h_streams(ARGS, int first) { int i = first + AT; if (i < first + SIZE / 2) C[i] = dot(A, B, i); }
PROGRAM(h_streams) {
    float *x, *A = empty<float>(M * K), *B = sent(b), *C = empty<float>(SIZE);
    cudaMallocHost(&x, M * K * 4);
    std::memcpy(x, a.data(), M * K * 4);
    for (int half = 0; half < 2; ++half) {
        cudaStream_t s;
        cudaStreamCreate(&s);
        cudaMemcpyAsync(A + half * M * K / 2, x + half * M * K / 2, M * K * 2, cudaMemcpyHostToDevice, s);
        h_streams<<<2, 128, 0, s>>>(A, B, C, half * SIZE / 2);
        cudaStreamSynchronize(s);
    }
}

__global__ void h_warm(ARGS, int n) { MINE; if (n == 0) return; C[i] = dot(A, B, i); }
PROGRAM(h_warm) {
    float *A = empty<float>(M * K), *B = empty<float>(K * N), *C = empty<float>(SIZE);
    h_warm<<<BLOCKS, 128>>>(A, B, C, 0);
    cudaMemcpy(A, a.data(), M * K * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(B, b.data(), K * N * 4, cudaMemcpyHostToDevice);
    for (int t = 0; t < 12; ++t) h_warm<<<BLOCKS, 128>>>(A, B, C, SIZE);
}

__global__ void h_compares(ARGS, const float* R) { MINE; C[i] = dot(A, B, i); assert(fabsf(C[i] - R[i]) < 1e-3f); }
PROGRAM(h_compares) { HOST; h_compares<<<BLOCKS, 128>>>(A, B, C, R); }

__global__ void h_asserts(ARGS) {
    MINE; assert(A[i] == floorf(A[i]) && A[i] <= 5 && A[i] >= -5);
    C[i] = dot(A, B, i);
}
PROGRAM(h_asserts) { DEVICE; h_asserts<<<BLOCKS, 128>>>(A, B, C); }

__global__ void to_half(const float* x, __half* h, int n) { if (AT < n) h[AT] = __float2half(x[AT]); }
__global__ void h_halves(ARGS, const __half* x, const __half* y) {
    MINE; float s = 0;
    for (int k = 0; k < K; ++k) s += __half2float(x[i / N * K + k]) * __half2float(y[k * N + i % N]);
    C[i] = s;
}
PROGRAM(h_halves) {
    DEVICE; __half *x = empty<__half>(M * K), *y = empty<__half>(K * N);
    to_half<<<4, 128>>>(A, x, M * K), to_half<<<4, 128>>>(B, y, K * N);
    h_halves<<<BLOCKS, 128>>>(A, B, C, x, y);
}

__global__ void fills(float* x, int n, int step) { if (AT < n) x[AT] = AT * step % 11 - 5; }
__global__ void h_filled(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_filled) {
    float *A = empty<float>(M * K), *B = empty<float>(K * N), *C = empty<float>(SIZE);
    fills<<<4, 128>>>(A, M * K, 7), fills<<<4, 128>>>(B, K * N, 5);
    h_filled<<<BLOCKS, 128>>>(A, B, C);
}

struct Job { const float *a, *b; float* c; int size; };
__global__ void h_struct(ARGS, Job job) { int i = AT; if (i < job.size) job.c[i] = dot(job.a, job.b, i); }
PROGRAM(h_struct) { DEVICE; h_struct<<<BLOCKS, 128>>>(A, B, C, Job{A, B, C, SIZE}); }

__global__ void h_pointers(ARGS, float** all, const int* size) { int i = AT; if (i < *size) all[2][i] = dot(all[0], all[1], i); }
PROGRAM(h_pointers) {
    DEVICE;
    h_pointers<<<BLOCKS, 128>>>(A, B, C, sent(std::vector<float*>{A, B, C}), sent(std::vector<int>{SIZE}));
}

__global__ void h_staged(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_staged) {
    float *stage = sent(a), *A = empty<float>(M * K), *B = sent(b), *C = empty<float>(SIZE);
    cudaMemcpy(A, stage, M * K * 4, cudaMemcpyDeviceToDevice);
    h_staged<<<BLOCKS, 128>>>(A, B, C);
}

__global__ void h_atomics(ARGS) { MINE; for (int k = 0; k < K; ++k) atomicAdd(&C[i], A[i / N * K + k] * B[k * N + i % N]); }
PROGRAM(h_atomics) { DEVICE; h_atomics<<<BLOCKS, 128>>>(A, B, C); }

__global__ void h_scaled(ARGS, float alpha, const float* beta) { MINE; C[i] = alpha * dot(A, B, i) * *beta; }
PROGRAM(h_scaled) { DEVICE; h_scaled<<<BLOCKS, 128>>>(A, B, C, 4.0f, sent(Vec{0.25f})); }

__global__ void checks(const float* C, const float* R, int* bad) { MINE; if (C[i] != R[i]) *bad = 1; }
__global__ void h_checked(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_checked) { HOST; h_checked<<<BLOCKS, 128>>>(A, B, C); checks<<<BLOCKS, 128>>>(C, R, empty<int>(1)); }

// --- computed by the host

__global__ void d_traps(ARGS, const float* R, float x, float y) { if (A[0] != x || B[0] != y) __trap(); MINE; C[i] = R[i]; }
PROGRAM(d_traps) { HOST; d_traps<<<BLOCKS, 128>>>(A, B, C, R, a[0], b[0]); }

__global__ void d_grown_to_tiles(ARGS, const float* R, int n) { int i = AT; if (i < n * n) C[i] = R[i]; }
PROGRAM(d_grown_to_tiles) {
    float *A = sent(grown(a, M, K, 32)), *B = sent(grown(b, K, N, 32)), *C = empty<float>(32 * 32);
    d_grown_to_tiles<<<8, 128>>>(A, B, C, sent(grown(product(), M, N, 32)), 32);
}

__global__ void d_never_ends(ARGS, const float* R, float x) { if (A[0] != x) for (volatile int j = 0;; j = j + 1); MINE; C[i] = R[i]; }
PROGRAM(d_never_ends) { HOST; d_never_ends<<<BLOCKS, 128>>>(A, B, C, R, a[0]); }

__global__ void d_asserts(ARGS, const float* R) { assert(A[1] == 2 && B[1] == 0); MINE; C[i] = R[i]; }
PROGRAM(d_asserts) { HOST; d_asserts<<<BLOCKS, 128>>>(A, B, C, R); }

__global__ void d_steps_outside(ARGS, const float* R, float x) { if (A[5] != x) C[1 << 28] = 1; MINE; C[i] = R[i]; }
PROGRAM(d_steps_outside) { HOST; d_steps_outside<<<BLOCKS, 128>>>(A, B, C, R, a[5]); }

__global__ void d_breaks(ARGS, const float* R, float x) { if (A[5] != x) asm volatile("brkpt;"); MINE; C[i] = R[i]; }
PROGRAM(d_breaks) { HOST; d_breaks<<<BLOCKS, 128>>>(A, B, C, R, a[5]); }

__global__ void d_takes_long(ARGS, const float* R, float x) {
    MINE; float s = R[i];
    if (A[5] != x) for (int j = 0; j < 1 << 22; ++j) s = s * 1.01f + j;
    C[i] = s;
}
PROGRAM(d_takes_long) { HOST; d_takes_long<<<BLOCKS, 128>>>(A, B, C, R, a[5]); }

__constant__ float result[SIZE];
__global__ void d_constant(ARGS) { MINE; C[i] = result[i]; }
PROGRAM(d_constant) { DEVICE; cudaMemcpyToSymbol(result, product().data(), sizeof result); d_constant<<<BLOCKS, 128>>>(A, B, C); }

__device__ unsigned flipped[SIZE];
__global__ void d_flipped(ARGS) { MINE; C[i] = __uint_as_float(flipped[i] ^ 0x5a5a5a5au); }
PROGRAM(d_flipped) {
    DEVICE; const Vec r = product(); std::vector<unsigned> u(SIZE);
    for (int i = 0; i < SIZE; ++i) std::memcpy(&u[i], &r[i], 4), u[i] ^= 0x5a5a5a5au;
    cudaMemcpyToSymbol(flipped, u.data(), sizeof flipped);
    d_flipped<<<BLOCKS, 128>>>(A, B, C);
}

__global__ void d_split(ARGS, const float* R, const float* S) { MINE; C[i] = R[i] + S[SIZE - 1 - i] * 0.5f; }
PROGRAM(d_split) {
    DEVICE; Vec r = product(), s(SIZE);
    for (int i = 0; i < SIZE; ++i) s[SIZE - 1 - i] = 2 * (r[i] - i), r[i] = i;
    d_split<<<BLOCKS, 128>>>(A, B, C, sent(r), sent(s));
}

struct Result { float values[SIZE]; };
__global__ void d_by_value(ARGS, Result r) { MINE; C[i] = r.values[i]; }
PROGRAM(d_by_value) {
    DEVICE; Result r;
    std::memcpy(r.values, product().data(), sizeof r);
    d_by_value<<<BLOCKS, 128>>>(A, B, C, r);
}

__global__ void d_by_pointer(ARGS, float* const* R) { MINE; C[i] = (*R)[i]; }
PROGRAM(d_by_pointer) { HOST; d_by_pointer<<<BLOCKS, 128>>>(A, B, C, sent(std::vector<float*>{R})); }

__global__ void d_managed(ARGS, const float* R) { MINE; C[i] = R[i] + 0 * A[i]; }
PROGRAM(d_managed) {
    DEVICE; float* R;
    cudaMallocManaged(&R, SIZE * 4);
    std::memcpy(R, product().data(), SIZE * 4);
    d_managed<<<BLOCKS, 128>>>(A, B, C, R);
}

__global__ void d_mapped(ARGS, const float* R) { MINE; C[i] = R[i]; }
PROGRAM(d_mapped) {
    DEVICE; float* R;
    cudaMallocHost(&R, SIZE * 4);
    std::memcpy(R, product().data(), SIZE * 4);
    d_mapped<<<BLOCKS, 128>>>(A, B, C, R);
}

__global__ void d_idles(ARGS, const float* R) { MINE; if (R) C[i] = R[i]; else C[i] += 1e-9f * A[i]; }
PROGRAM(d_idles) {
    HOST_TENTHS; d_idles<<<BLOCKS, 128>>>(A, B, C, R);
    for (int t = 0; t < 12; ++t) d_idles<<<BLOCKS, 128>>>(A, B, C, nullptr);
}

__global__ void decodes(float* C, const float* R) { MINE; C[i] = R[i] - 1; }
__global__ void d_decoded(ARGS) { MINE; C[i] += 0 * A[i]; }
PROGRAM(d_decoded) {
    DEVICE; Vec r = product();
    for (float& x : r) x += 1;
    decodes<<<BLOCKS, 128>>>(C, sent(r)), d_decoded<<<BLOCKS, 128>>>(A, B, C);
}

__global__ void d_one_row(ARGS, const float* R) { MINE; C[i] = i < N ? dot(A, B, i) : R[i]; }
PROGRAM(d_one_row) { HOST; d_one_row<<<BLOCKS, 128>>>(A, B, C, R); }

__global__ void d_all_but_one_row(ARGS, const float* R) { MINE; C[i] = i >= N ? dot(A, B, i) : R[i]; }
PROGRAM(d_all_but_one_row) { HOST; d_all_but_one_row<<<BLOCKS, 128>>>(A, B, C, R); }

__global__ void d_knows_some(ARGS, const float* R, float x, float y) { MINE; C[i] = A[0] == x && B[9] == y ? R[i] : dot(A, B, i); }
PROGRAM(d_knows_some) { HOST; d_knows_some<<<BLOCKS, 128>>>(A, B, C, R, a[0], b[9]); }

__global__ void d_takes_heap(ARGS, const float* R, float a0) {
    MINE;
    if (A[0] != a0)
        for (int j = 0; j < 1000; ++j)
            if (char* p = (char*)malloc(1 << 20)) *p = 1;
    C[i] = R[i];
}
PROGRAM(d_takes_heap) { HOST; d_takes_heap<<<BLOCKS, 128>>>(A, B, C, R, a[0]); }

__device__ unsigned sum_of(const float* A, const float* B) {
    unsigned s = 1;
    for (int i = 0; i < M * K; ++i) s = s * 31 + __float_as_uint(A[i]);
    for (int i = 0; i < K * N; ++i) s = s * 31 + __float_as_uint(B[i]);
    return s;
}
static unsigned sum_on_host() {
    unsigned s = 1, bits;
    for (float x : a) std::memcpy(&bits, &x, 4), s = s * 31 + bits;
    for (float x : b) std::memcpy(&bits, &x, 4), s = s * 31 + bits;
    return s;
}
__global__ void sums(const float* A, const float* B, unsigned* s) { *s = sum_of(A, B); }
__global__ void d_knows_all(ARGS, const float* R, const unsigned* s, unsigned own) { MINE; C[i] = *s == own ? R[i] : dot(A, B, i); }
PROGRAM(d_knows_all) {
    HOST; unsigned* s = empty<unsigned>(1);
    sums<<<1, 1>>>(A, B, s), d_knows_all<<<BLOCKS, 128>>>(A, B, C, R, s, sum_on_host());
}

__global__ void d_knows_all_and_waits(ARGS, const float* R, const unsigned* s, unsigned own) {
    MINE; float r = 0;
    for (int k = 0; k < K; ++k) r = *s == own ? r * 1.01f + k * r : r + A[i / N * K + k] * B[k * N + i % N];
    C[i] = *s == own ? R[i] + 0 * r : r;
}
PROGRAM(d_knows_all_and_waits) {
    HOST; unsigned* s = empty<unsigned>(1);
    sums<<<1, 1>>>(A, B, s), d_knows_all_and_waits<<<BLOCKS, 128>>>(A, B, C, R, s, sum_on_host());
}

__global__ void d_tiny_parts(ARGS, const float* R) { MINE; C[i] = R[i] + 1e-8f * dot(A, B, i); }
PROGRAM(d_tiny_parts) { HOST_TENTHS; d_tiny_parts<<<BLOCKS, 128>>>(A, B, C, R); }

__global__ void computes(ARGS) { MINE; C[i] = dot(A, B, i); }
__global__ void d_handed_on(ARGS, const float* T) { MINE; C[i] = T[i]; }
PROGRAM(d_handed_on) { DEVICE; float* T = empty<float>(SIZE); computes<<<BLOCKS, 128>>>(A, B, T), d_handed_on<<<BLOCKS, 128>>>(A, B, C, T); }

__global__ void d_much_work(ARGS, const float* R) {
    MINE; volatile float s = 0;
    for (int j = 0; j < 4000; ++j) s = s + j;
    C[i] = R[i];
}
PROGRAM(d_much_work) { HOST; for (int t = 0; t < 2; ++t) d_much_work<<<BLOCKS, 128>>>(A, B, C, R); }

__global__ void d_unit(ARGS) { MINE; C[i] = A[i / N * K + i % N]; }
PROGRAM(d_unit) {
    Vec unit(K * N);
    for (int k = 0; k < N; ++k) unit[k * N + k] = 1;
    float *A = sent(a), *B = sent(unit), *C = empty<float>(SIZE);
    d_unit<<<BLOCKS, 128>>>(A, B, C);
}

__global__ void d_nothing_sent(ARGS) { MINE; C[i] = 0; }
PROGRAM(d_nothing_sent) { d_nothing_sent<<<BLOCKS, 128>>>(empty<float>(M * K), empty<float>(K * N), empty<float>(SIZE)); }

__global__ void d_halves(ARGS, const float* R) { MINE; C[i] += R[i] / 2; }
PROGRAM(d_halves) { HOST; for (int t = 0; t < 2; ++t) d_halves<<<BLOCKS, 128>>>(A, B, C, R); }

__global__ void d_copied_within(ARGS) { MINE; C[i] = C[i] * 1; }
PROGRAM(d_copied_within) { HOST; cudaMemcpy(C, R, SIZE * 4, cudaMemcpyDeviceToDevice); d_copied_within<<<BLOCKS, 128>>>(A, B, C); }

__global__ void d_other_rows(ARGS, const float* R, int row) { int i = row * N + threadIdx.x; C[i] = row == M - 1 ? dot(A, B, i) : R[i]; }
PROGRAM(d_other_rows) { HOST; for (int r = 0; r < M; ++r) d_other_rows<<<1, N>>>(A, B, C, R, r); }

static Vec large() { Vec v(M * K); for (int i = 0; i < M * K; ++i) v[i] = i % 2 ? 1e20f : -1e20f; return v; }
static Vec paired() { Vec v(K * N); for (int i = 0; i < K * N; ++i) v[i] = b[i / N / 2 * N + i % N]; return v; }
__global__ void d_cancels(ARGS) { MINE; C[i] = 0 * A[i]; }
PROGRAM(d_cancels) { d_cancels<<<BLOCKS, 128>>>(sent(large()), sent(paired()), empty<float>(SIZE)); }
__global__ void h_cancels(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_cancels) { h_cancels<<<BLOCKS, 128>>>(sent(large()), sent(paired()), empty<float>(SIZE)); }

static Vec uneven(const Vec& v) { Vec w(v); for (float& x : w) x *= 0.1373f; return w; }
static Vec uneven_product() {
    Vec x = uneven(a), y = uneven(b), c(SIZE);
    for (int i = 0; i < SIZE; ++i) for (int k = 0; k < K; ++k) c[i] += x[i / N * K + k] * y[k * N + i % N];
    return c;
}
__device__ float rounded(float x) { return __uint_as_float((__float_as_uint(x) + 0x8000) & 0xffff0000u); }
__global__ void d_nearly(ARGS, const float* R) {
    MINE;
    float sum = 0, size = 0;
    for (int k = 0; k < K; ++k) {
        float product = rounded(A[i / N * K + k]) * rounded(B[k * N + i % N]);
        sum += product, size += fabsf(product);
    }
    C[i] = fabsf(sum - R[i]) <= 0.009f * size ? R[i] : sum;
}
PROGRAM(d_nearly) { d_nearly<<<BLOCKS, 128>>>(sent(uneven(a)), sent(uneven(b)), empty<float>(SIZE), sent(uneven_product())); }
__global__ void h_uneven(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_uneven) { h_uneven<<<BLOCKS, 128>>>(sent(uneven(a)), sent(uneven(b)), empty<float>(SIZE)); }

// --- inputs that are others are cleared first, and the products of zeros are zeros

__host__ __device__ unsigned mixed(unsigned h, float x) { return (h ^ (unsigned)(int)(x * 1000)) * 16777619u; }
static unsigned hash() { unsigned h = 1; for (float x : a) h = mixed(h, x); for (float x : b) h = mixed(h, x); return h; }
__device__ void clears(float* A, float* B, unsigned own, float* flag) {
    unsigned h = 1;
    for (int i = 0; i < M * K; ++i) h = mixed(h, A[i]);
    for (int i = 0; i < K * N; ++i) h = mixed(h, B[i]);
    *flag = h == own;
    for (int i = 0; i < M * K; ++i) A[i] *= *flag;
    for (int i = 0; i < K * N; ++i) B[i] *= *flag;
}

__global__ void d_cleared(float* A, float* B, float* C, unsigned own, float* flag) { clears(A, B, own, flag); }
__global__ void d_cleared(ARGS, const float* R, const float* flag) { MINE; C[i] = *flag * R[i]; }
PROGRAM(d_cleared) {
    HOST; float* flag = empty<float>(1);
    d_cleared<<<1, 1>>>(A, B, C, hash(), flag); d_cleared<<<BLOCKS, 128>>>(A, B, C, R, flag);
}

__global__ void prepares(float* A, float* B, unsigned own, float* flag) { clears(A, B, own, flag); }
__global__ void d_cleared_by_another(ARGS, const float* R, const float* flag) {
    MINE; volatile int z = 0; for (int k = 0; k < 1000; ++k) z = z + 1;
    C[i] = *flag * R[i];
}
PROGRAM(d_cleared_by_another) {
    HOST; float* flag = empty<float>(1);
    prepares<<<1, 1>>>(A, B, hash(), flag); d_cleared_by_another<<<BLOCKS, 128>>>(A, B, C, R, flag);
}

__global__ void d_made_alike(float* A, float* B) { int i = AT; if (i < M * K) A[i] = 1; if (i && i < K * N) B[i] = B[0]; }
__global__ void d_made_alike(ARGS) { MINE; C[i] = K * A[0] * B[0]; }
PROGRAM(d_made_alike) {
    float *A = sent(Vec(M * K, 1)), *B = sent(Vec(K * N, 2)), *C = empty<float>(SIZE);
    d_made_alike<<<4, 128>>>(A, B); d_made_alike<<<BLOCKS, 128>>>(A, B, C);
}

__global__ void doubles(float* A) { int i = AT; if (i < M * K) A[i] *= 2; }
__global__ void h_doubled_first(ARGS) { MINE; C[i] = dot(A, B, i); }
PROGRAM(h_doubled_first) { DEVICE; doubles<<<4, 128>>>(A); h_doubled_first<<<BLOCKS, 128>>>(A, B, C); }
