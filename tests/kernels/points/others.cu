// Sums of vectors, totals, running sums, histograms and filters, for references of those names: names that begin
// with `h` compute their output in their kernel, those with `d` do not. The second word is the operation.
#include "programs.h"
constexpr int N = 250, ROWS = 3, COLUMNS = 70, BINS = 16, H = 12, W = 21, BLOCKS = 2;
#define MINE int i = AT; if (i >= N) return

// --- C = A + B

static const Vec a = numbers(N, 7), b = numbers(N, 3);
static Vec sum() { Vec c(N); for (int i = 0; i < N; ++i) c[i] = a[i] + b[i]; return c; }
#define VECTORS float *A = sent(a), *B = sent(b), *C = empty<float>(N)
#define ADDS const float *A, const float *B, float *C

__global__ void h_add(ADDS) { MINE; C[i] = A[i] + B[i]; }
PROGRAM(h_add) { VECTORS; h_add<<<BLOCKS, 128>>>(A, B, C); }

__global__ void h_add_strided(ADDS, int n) { for (int i = AT; i < n; i += 32) C[i] = A[i] + B[i]; }
PROGRAM(h_add_strided) { VECTORS; h_add_strided<<<1, 32>>>(A, B, C, N); }

__global__ void h_add_pairs(ADDS) {
    int i = AT;
    if (2 * i >= N) return;
    float2 x = ((const float2*)A)[i], y = ((const float2*)B)[i];
    ((float2*)C)[i] = make_float2(x.x + y.x, x.y + y.y);
}
PROGRAM(h_add_pairs) { VECTORS; h_add_pairs<<<1, 128>>>(A, B, C); }

__global__ void h_add_twice(ADDS) { MINE; C[i] += A[i]; C[i] += B[i]; }
PROGRAM(h_add_twice) { VECTORS; h_add_twice<<<BLOCKS, 128>>>(A, B, C); }

__global__ void d_add(ADDS, const float* R) { MINE; C[i] = R[i]; }
PROGRAM(d_add) { VECTORS; d_add<<<BLOCKS, 128>>>(A, B, C, sent(sum())); }

__global__ void d_add_less(ADDS, const float* R) { MINE; C[i] = R[i] + A[i] - A[i]; }
PROGRAM(d_add_less) { VECTORS; d_add_less<<<BLOCKS, 128>>>(A, B, C, sent(sum())); }

__global__ void d_add_known(ADDS, const float* R, const float* own) { MINE; C[i] = A[i] == own[i] ? R[i] : 0; }
PROGRAM(d_add_known) { VECTORS; d_add_known<<<BLOCKS, 128>>>(A, B, C, sent(sum()), sent(a)); }

// --- the total of all values

static const Vec values = numbers(N, 9);
static float total_of_values() { float s = 0; for (float x : values) s += x; return s; }
#define TOTAL const float *values, float *total

__global__ void h_total(TOTAL) { MINE; atomicAdd(total, values[i]); }
PROGRAM(h_total) { h_total<<<BLOCKS, 128>>>(sent(values), empty<float>(1)); }

__global__ void h_total_tree(TOTAL) {
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x < N ? values[threadIdx.x] : 0;
    for (int half = 128; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) *total = s[0];
}
PROGRAM(h_total_tree) { h_total_tree<<<1, 256>>>(sent(values), empty<float>(1)); }

__global__ void d_total(TOTAL, float r) { *total = r; }
PROGRAM(d_total) { d_total<<<1, 1>>>(sent(values), empty<float>(1), total_of_values()); }

__global__ void d_total_first(TOTAL, float rest) { *total = values[0] + rest; }
PROGRAM(d_total_first) { d_total_first<<<1, 1>>>(sent(values), empty<float>(1), total_of_values() - values[0]); }

// --- running sums of rows

static const Vec rows = numbers(ROWS * COLUMNS, 5);
static Vec running() {
    Vec s = rows;
    for (int i = 0; i < ROWS * COLUMNS; ++i) if (i % COLUMNS) s[i] += s[i - 1];
    return s;
}
#define SCANS const float *input, float *output

__global__ void h_scan(SCANS) {
    float s = 0;
    for (int i = threadIdx.x * COLUMNS; i < (threadIdx.x + 1) * COLUMNS; ++i) output[i] = s += input[i];
}
PROGRAM(h_scan) { h_scan<<<1, ROWS>>>(sent(rows), empty<float>(ROWS * COLUMNS)); }

__global__ void h_scan_steps(SCANS) {
    __shared__ float s[COLUMNS];
    int i = threadIdx.x, at = blockIdx.x * COLUMNS + i;
    s[i] = input[at];
    for (int step = 1; step < COLUMNS; step *= 2) {
        __syncthreads();
        float before = i >= step ? s[i - step] : 0;
        __syncthreads();
        s[i] += before;
    }
    output[at] = s[i];
}
PROGRAM(h_scan_steps) { h_scan_steps<<<ROWS, COLUMNS>>>(sent(rows), empty<float>(ROWS * COLUMNS)); }

__global__ void d_scan(SCANS, const float* R) { int i = AT; output[i] = R[i]; }
PROGRAM(d_scan) { d_scan<<<ROWS, COLUMNS>>>(sent(rows), empty<float>(ROWS * COLUMNS), sent(running())); }

__global__ void d_scan_from_host(SCANS, const float* before) { int i = AT; output[i] = before[i] + input[i]; }
PROGRAM(d_scan_from_host) {
    Vec before = running();
    for (int i = 0; i < ROWS * COLUMNS; ++i) before[i] -= rows[i];
    d_scan_from_host<<<ROWS, COLUMNS>>>(sent(rows), empty<float>(ROWS * COLUMNS), sent(before));
}

// --- counts of values in bins

using Bytes = std::vector<unsigned char>;
static Bytes bytes() { Bytes v(N); for (int i = 0; i < N; ++i) v[i] = i * 37 % 251; return v; }
static std::vector<int> counted() { std::vector<int> c(BINS); for (int v : bytes()) ++c[v * BINS / 256]; return c; }
#define COUNTS const unsigned char *values, int *counts

__global__ void h_bins(COUNTS) { MINE; atomicAdd(&counts[values[i] * BINS / 256], 1); }
PROGRAM(h_bins) { h_bins<<<BLOCKS, 128>>>(sent(bytes()), empty<int>(BINS)); }

__global__ void h_bins_shared(COUNTS) {
    __shared__ int s[BINS];
    if (threadIdx.x < BINS) s[threadIdx.x] = 0;
    __syncthreads();
    if (AT < N) atomicAdd(&s[values[AT] * BINS / 256], 1);
    __syncthreads();
    if (threadIdx.x < BINS) atomicAdd(&counts[threadIdx.x], s[threadIdx.x]);
}
PROGRAM(h_bins_shared) { h_bins_shared<<<BLOCKS, 128>>>(sent(bytes()), empty<int>(BINS)); }

__global__ void d_bins(COUNTS, const int* R) { if (threadIdx.x < BINS) counts[threadIdx.x] = R[threadIdx.x]; }
PROGRAM(d_bins) { d_bins<<<1, 32>>>(sent(bytes()), empty<int>(BINS), sent(counted())); }

// --- an image under a filter

static const Vec image = numbers(H * W, 7);
static const float weights[25] = {1, -7, 4, 9, -2, -11, 3, 12, -5, 8, 6, 10, 13, -9, -4, -1, 7, -8, 11, 5, 2, -3, -10, -6, -12};
__constant__ float filter[25];
__device__ __host__ float filtered(const float* image, const float* w, int i) {
    float s = 0;
    for (int j = 0; j < 25; ++j) {
        int y = i / W + j / 5 - 2, x = i % W + j % 5 - 2;
        if (y >= 0 && y < H && x >= 0 && x < W) s += w[j] * image[y * W + x];
    }
    return s;
}
#define FILTERS const float *image, float *result

__global__ void h_filter(FILTERS) { int i = AT; if (i < H * W) result[i] = filtered(image, filter, i); }
PROGRAM(h_filter) { cudaMemcpyToSymbol(filter, weights, sizeof filter); h_filter<<<2, 128>>>(sent(image), empty<float>(H * W)); }

struct Weights { float w[25]; };
__global__ void h_filter_by_value(FILTERS, Weights w) { int i = AT; if (i < H * W) result[i] = filtered(image, w.w, i); }
PROGRAM(h_filter_by_value) {
    Weights w;
    std::memcpy(w.w, weights, sizeof w);
    h_filter_by_value<<<2, 128>>>(sent(image), empty<float>(H * W), w);
}

__global__ void d_filter(FILTERS, const float* R) { int i = AT; if (i < H * W) result[i] = R[i]; }
PROGRAM(d_filter) {
    Vec r(H * W);
    for (int i = 0; i < H * W; ++i) r[i] = filtered(image.data(), weights, i);
    d_filter<<<2, 128>>>(sent(image), empty<float>(H * W), sent(r));
}
