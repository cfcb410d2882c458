// Matrix times vector, either way round, in both precisions; logarithms of softmax and normalised rows.

#define TIMES const float *A, const float *x, float *y, int M, int N

__global__ void mv_basic(TIMES) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float dot = 0.0f;
#pragma unroll 8
    for (int c = 0; c < N; c++) dot += A[(size_t)r * N + c] * x[c];
    y[r] = dot;
}

// All of x in shared memory; a row to each of eight warps.
__global__ void mv_shared_vector(TIMES) {
    __shared__ float vector[4096];
    for (int c = threadIdx.x; c < N; c += blockDim.x) vector[c] = x[c];
    __syncthreads();
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= M) return;
    float dot = 0.0f;
    for (int c = lane; c < N; c += 32) dot += A[r * N + c] * vector[c];
    for (int s = 16; s >= 1; s >>= 1) dot += __shfl_down_sync(0xffffffff, dot, s);
    if (lane == 0) y[r] = dot;
}

// 128 threads to a row, float4, and one atomic a warp.
__global__ void mv_block_vector(TIMES) {
    const float4 *row = (const float4*)(A + blockIdx.x * N), *v = (const float4*)x;
    float dot = 0.0f;
    for (int q = threadIdx.x; q < N / 4; q += blockDim.x) {
        float4 a = row[q], b = v[q];
        dot += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int s = 16; s >= 1; s >>= 1) dot += __shfl_xor_sync(0xffffffff, dot, s);
    if (threadIdx.x % 32 == 0) atomicAdd(&y[blockIdx.x], dot);
}

// Tiles of 32 x 32 are turned, so that a lane adds up a row.
__global__ void mv_tiles(TIMES) {
    __shared__ float tile[32][33], part[32];
    int lane = threadIdx.x, warp = threadIdx.y, top = blockIdx.x * 32;
    float dot = 0.0f;
    for (int left = 0; left < N; left += 32) {
        for (int r = warp; r < 32; r += 8) tile[r][lane] = A[(top + r) * N + left + lane];
        if (warp == 0) part[lane] = x[left + lane];
        __syncthreads();
        if (warp == 0)
            for (int c = 0; c < 32; c++) dot += tile[lane][c] * part[c];
        __syncthreads();
    }
    if (warp == 0) y[top + lane] = dot;
}

// y = A^T x, where x has M elements and y has N.
__global__ void mtv_basic(TIMES) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= N) return;
    float dot = 0.0f;
    for (int r = 0; r < M; r++) dot += A[r * N + c] * x[r];
    y[c] = dot;
}

// Parts of 128 rows, added by atomics.
__global__ void mtv_parts(TIMES) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 128;
    if (c >= N) return;
    float dot = 0.0f;
    for (int r = first; r < first + 128 && r < M; r++) dot += A[r * N + c] * x[r];
    atomicAdd(y + c, dot);
}

// A warp to a column: its lanes read what is a row apart.
__global__ void mtv_warp(TIMES) {
    int c = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (c >= N) return;
    float dot = 0.0f;
    for (int r = lane; r < M; r += 32) dot += A[r * N + c] * x[r];
    for (int s = 16; s >= 1; s >>= 1) dot += __shfl_down_sync(0xffffffff, dot, s);
    if (lane == 0) y[c] = dot;
}

// Four columns to a thread, rows dealt out to eight warps.
__global__ void mtv_vector(TIMES) {
    __shared__ float4 sums[8][32];
    int q = blockIdx.x * 32 + threadIdx.x;
    float4 dot = make_float4(0, 0, 0, 0);
    if (4 * q < N) {
        for (int r = threadIdx.y; r < M; r += 8) {
            float4 a = ((const float4*)A)[r * (N / 4) + q];
            float v = x[r];
            dot.x += a.x * v;
            dot.y += a.y * v;
            dot.z += a.z * v;
            dot.w += a.w * v;
        }
    }
    sums[threadIdx.y][threadIdx.x] = dot;
    __syncthreads();
    if (threadIdx.y > 0 || 4 * q >= N) return;
    for (int w = 1; w < 8; w++) {
        float4 more = sums[w][threadIdx.x];
        dot = make_float4(dot.x + more.x, dot.y + more.y, dot.z + more.z, dot.w + more.w);
    }
    ((float4*)y)[q] = dot;
}

#define TIMES_DOUBLE const double *A, const double *x, double *y, int M, int N

__global__ void dmv_basic(TIMES_DOUBLE) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    double dot = 0;
    for (int c = 0; c < N; c++) dot += A[r * N + c] * x[c];
    y[r] = dot;
}

__global__ void dmv_warp(TIMES_DOUBLE) {
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    if (r >= M) return;
    double dot = 0;
    for (int c = threadIdx.x; c < N; c += 32) dot += A[r * N + c] * x[c];
    for (int s = 16; s >= 1; s >>= 1) dot += __shfl_down_sync(0xffffffff, dot, s);
    if (threadIdx.x == 0) y[r] = dot;
}

__global__ void dmv_block(TIMES_DOUBLE) {
    __shared__ double sums[256];
    int t = threadIdx.x, r = blockIdx.x;
    double dot = 0;
    for (int c = t; c < N; c += 256) dot += A[r * N + c] * x[c];
    sums[t] = dot;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) y[r] = sums[0];
}

// The logarithm of the softmax of each row: x - max - log(sum of exp(x - max)).
#define ROWS const float *in, float *out, int R, int C

__global__ void log_softmax_thread(ROWS) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= R) return;
    const float* row = in + r * C;
    float top = row[0], sum = 0;
    for (int c = 1; c < C; c++) top = fmaxf(top, row[c]);
    for (int c = 0; c < C; c++) sum += expf(row[c] - top);
    float minus = top + logf(sum);
    for (int c = 0; c < C; c++) out[r * C + c] = row[c] - minus;
}

template <typename Merge>
__device__ float merged(float v, float* scratch, Merge merge) {
    int t = threadIdx.x;
    scratch[t] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) scratch[t] = merge(scratch[t], scratch[t + s]);
        __syncthreads();
    }
    v = scratch[0];
    __syncthreads();
    return v;
}

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

// A block keeps its row in shared memory.
__global__ void log_softmax_block(ROWS) {
    __shared__ float row[1024], scratch[128];
    int t = threadIdx.x;
    float top = -INFINITY, sum = 0;
    for (int c = t; c < C; c += 128) {
        row[c] = in[blockIdx.x * C + c];
        top = fmaxf(top, row[c]);
    }
    top = merged(top, scratch, Larger());
    for (int c = t; c < C; c += 128) sum += __expf(row[c] - top);
    sum = merged(sum, scratch, Sum());
    float minus = top + __logf(sum);
    for (int c = t; c < C; c += 128) out[blockIdx.x * C + c] = row[c] - minus;
}

// A warp keeps its row in registers: up to 1024 elements.
__global__ void log_softmax_warp(ROWS) {
    int r = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (r >= R) return;
    float v[32], top = -INFINITY, sum = 0;
#pragma unroll
    for (int k = 0; k < 32; k++) {
        int c = 32 * k + lane;
        v[k] = c < C ? in[r * C + c] : -INFINITY;
        top = fmaxf(top, v[k]);
    }
    for (int s = 16; s > 0; s /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, s));
#pragma unroll
    for (int k = 0; k < 32; k++) sum += expf(v[k] - top);
    for (int s = 16; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffff, sum, s);
    float minus = top + logf(sum);
#pragma unroll
    for (int k = 0; k < 32; k++) {
        int c = 32 * k + lane;
        if (c < C) out[r * C + c] = v[k] - minus;
    }
}

// Rows with mean 0 and variance 1, times a gain, plus a shift.
#define NORMED const float *in, const float *gain, const float *shift, float *out, int R, int C

__global__ void normed_thread(NORMED) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= R) return;
    float mean = 0, variance = 0;
    for (int c = 0; c < C; c++) mean += in[r * C + c];
    mean /= C;
    for (int c = 0; c < C; c++) variance += (in[r * C + c] - mean) * (in[r * C + c] - mean);
    float scale = 1.0f / sqrtf(variance / C + 1e-5f);
    for (int c = 0; c < C; c++) out[r * C + c] = (in[r * C + c] - mean) * scale * gain[c] + shift[c];
}

// Sum and sum of squares in one go over the row, by a block.
__global__ void normed_block(NORMED) {
    __shared__ float scratch[256];
    const float* row = in + blockIdx.x * C;
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < C; c += blockDim.x) {
        float v = row[c];
        sum += v;
        squares += v * v;
    }
    sum = merged(sum, scratch, Sum());
    squares = merged(squares, scratch, Sum());
    float mean = sum / C, scale = rsqrtf(squares / C - mean * mean + 1e-5f);
    for (int c = threadIdx.x; c < C; c += blockDim.x)
        out[blockIdx.x * C + c] = (row[c] - mean) * scale * gain[c] + shift[c];
}

// A warp to a row, four elements at a time, in two goes.
__global__ void normed_warp(NORMED) {
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    if (r >= R) return;
    const float4 *row = (const float4*)(in + r * C), *g = (const float4*)gain, *h = (const float4*)shift;
    float4* to = (float4*)(out + r * C);
    float sum = 0, squares = 0;
    for (int q = threadIdx.x; q < C / 4; q += 32) {
        float4 v = row[q];
        sum += v.x + v.y + v.z + v.w;
        squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    for (int s = 16; s > 0; s /= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, s);
        squares += __shfl_xor_sync(0xffffffff, squares, s);
    }
    float mean = sum / C, scale = rsqrtf(squares / C - mean * mean + 1e-5f);
    for (int q = threadIdx.x; q < C / 4; q += 32) {
        float4 v = row[q], a = g[q], b = h[q];
        v.x = (v.x - mean) * scale * a.x + b.x;
        v.y = (v.y - mean) * scale * a.y + b.y;
        v.z = (v.z - mean) * scale * a.z + b.z;
        v.w = (v.w - mean) * scale * a.w + b.w;
        to[q] = v;
    }
}
