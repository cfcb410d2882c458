// Sums, dot products, sums of rows and columns, matrix times vector.

#define SUM(name) extern "C" __global__ void name(const float* in, float* out, int n)

// A tree over 512 elements by remainders.
SUM(tree_remainders) {
    __shared__ float s[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < 512; step *= 2) {
        if (t % (2 * step) == 0) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Four branches at each node.
SUM(tree_of_four) {
    __shared__ float s[1024];
    int t = threadIdx.x, i = blockIdx.x * 1024 + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 256; step > 0; step /= 4) {
        if (t < step) s[t] += s[t + step] + s[t + 2 * step] + s[t + 3 * step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Four loads to a thread, then a tree whose last warp shuffles.
SUM(tree_last_warp) {
    __shared__ float s[128];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    float sum = 0.0f;
    for (int k = 0; k < 4; k++) {
        if (i + 128 * k < n) sum += in[i + 128 * k];
    }
    s[t] = sum;
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        sum = s[t] + s[t + 32];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
        if (t == 0) out[blockIdx.x] = sum;
    }
}

// One warp to a block.
SUM(tree_one_warp) {
    float sum = 0.0f;
    for (int i = blockIdx.x * 512 + threadIdx.x; i < n && i < blockIdx.x * 512 + 512; i += 32) sum += in[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Each thread adds up 16 neighbours, in double precision.
SUM(tree_double) {
    __shared__ double s[64];
    int t = threadIdx.x, first = (blockIdx.x * 64 + t) * 16;
    double sum = 0.0;
    for (int i = first; i < first + 16 && i < n; i++) sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int step = 32; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = (float)s[0];
}

#define DOT(name) extern "C" __global__ void name(const float* x, const float* y, float* out, int n)

DOT(dot_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, x[i] * y[i]);
}

DOT(dot_tree) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? x[i] * y[i] : 0.0f;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, s[0]);
}

DOT(dot_strides) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

DOT(dot_float4) {
    const float4 *u = (const float4*)x, *v = (const float4*)y;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 a = u[i], b = v[i];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

#define TABLE(name) extern "C" __global__ void name(const float* in, float* out, int R, int C)

TABLE(row_sums_naive) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= R) return;
    float sum = 0.0f;
    for (int c = 0; c < C; c++) sum += in[row * C + c];
    out[row] = sum;
}

TABLE(row_sums_warp) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= R) return;
    float sum = 0.0f;
    for (int c = lane; c < C; c += 32) sum += in[row * C + c];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) out[row] = sum;
}

TABLE(row_sums_block) {
    __shared__ float s[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int c = t; c < C; c += 128) sum += in[blockIdx.x * C + c];
    s[t] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

// Tiles of 32 × 32 are turned in shared memory, so that a thread still has a row.
TABLE(row_sums_tiled) {
    __shared__ float s[32][33];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.x * 32;
    float sum = 0.0f;
    for (int left = 0; left < C; left += 32) {
        for (int y = ty; y < 32; y += 4) {
            s[y][tx] = top + y < R && left + tx < C ? in[(top + y) * C + left + tx] : 0.0f;
        }
        __syncthreads();
        if (ty == 0) {
            for (int x = 0; x < 32; x++) sum += s[tx][x];
        }
        __syncthreads();
    }
    if (ty == 0 && top + tx < R) out[top + tx] = sum;
}

TABLE(column_sums_naive) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= C) return;
    float sum = 0.0f;
    for (int r = 0; r < R; r++) sum += in[r * C + column];
    out[column] = sum;
}

// A block adds 64 rows of its columns to the result.
TABLE(column_sums_parts) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= C) return;
    float sum = 0.0f;
    for (int r = blockIdx.y * 64; r < blockIdx.y * 64 + 64 && r < R; r++) sum += in[r * C + column];
    atomicAdd(&out[column], sum);
}

// Eight warps have a column each lane, eight rows at a time.
TABLE(column_sums_shared) {
    __shared__ float s[8][32];
    int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 32 + tx;
    float sum = 0.0f;
    for (int r = ty; r < R; r += 8) sum += column < C ? in[r * C + column] : 0.0f;
    s[ty][tx] = sum;
    __syncthreads();
    if (ty == 0 && column < C) {
        for (int k = 1; k < 8; k++) sum += s[k][tx];
        out[column] = sum;
    }
}

// A block adds up a column: neighbours are a row apart.
TABLE(column_sums_block) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int r = t; r < R; r += 256) sum += in[r * C + blockIdx.x];
    s[t] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

#define TIMES(name) extern "C" __global__ void name(const float* A, const float* x, float* y, int M, int N)

TIMES(times_vector_naive) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    float sum = 0.0f;
    for (int i = 0; i < N; i++) sum += A[row * N + i] * x[i];
    y[row] = sum;
}

// The vector in shared memory, 256 elements at a time.
TIMES(times_vector_shared) {
    __shared__ float s[256];
    int row = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < N; start += 256) {
        s[threadIdx.x] = start + threadIdx.x < N ? x[start + threadIdx.x] : 0.0f;
        __syncthreads();
        if (row < M) {
            for (int i = 0; i < 256 && start + i < N; i++) sum += A[row * N + start + i] * s[i];
        }
        __syncthreads();
    }
    if (row < M) y[row] = sum;
}

// A warp has four rows.
TIMES(times_vector_rows4) {
    int row = (blockIdx.x * blockDim.y + threadIdx.y) * 4, lane = threadIdx.x;
    if (row >= M) return;
    float sum[4] = {};
    for (int i = lane; i < N; i += 32) {
        float value = x[i];
        for (int r = 0; r < 4; r++) sum[r] += A[(row + r) * N + i] * value;
    }
    for (int r = 0; r < 4; r++) {
        for (int step = 16; step > 0; step /= 2) sum[r] += __shfl_down_sync(0xffffffff, sum[r], step);
        if (lane == 0) y[row + r] = sum[r];
    }
}

// Eight lanes to a row.
TIMES(times_vector_eight) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0.0f;
    if (row < M) {
        for (int i = lane; i < N; i += 8) sum += A[row * N + i] * x[i];
    }
    for (int step = 4; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (row < M && lane == 0) y[row] = sum;
}
