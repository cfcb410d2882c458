// More ways to miss a barrier.
// launch: grid 2, block 128: in float32[256], out float32[256], 100

// The barrier belongs behind the condition of a reduction.
extern "C" __global__ void racy_reduction(const float* in, float* out, int n) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
            __syncthreads();  // barrier-divergence
        }
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void clean_reduction(const float* in, float* out, int n) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// `continue` jumps over the barrier.
extern "C" __global__ void racy_continue_in_loop(const float* in, float* out, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < 2; ++start) {
        row[t] = in[start * 128 + t];
        if (start == 1 && t >= n) continue;
        __syncthreads();  // barrier-divergence
        sum += row[t];
    }
    out[blockIdx.x * 128 + t] = sum;
}

extern "C" __global__ void clean_continue_in_loop(const float* in, float* out, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < 2; ++start) {
        row[t] = in[start * 128 + t];
        if (start == 1 && t < 0) continue;
        __syncthreads();
        sum += row[t];
    }
    out[blockIdx.x * 128 + t] = sum;
}

// `break` does so too.
extern "C" __global__ void racy_break_in_loop(const float* in, float* out, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        if (t < 32 * k) break;
        row[t] = in[k * 32 + t];
        __syncthreads();  // barrier-divergence
        sum += row[t];
    }
    out[blockIdx.x * 128 + t] = sum;
}

extern "C" __global__ void clean_break_in_loop(const float* in, float* out, int n) {
    __shared__ float row[128];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        if (n < 32 * k) break;
        row[t] = in[k * 32 + t];
        __syncthreads();
        sum += row[t];
    }
    out[blockIdx.x * 128 + t] = sum;
}

// A loop over the grid: the last turn is not for everybody.
// launch: grid 2, block 64: in float32[200], out float32[256], 200
extern "C" __global__ void racy_grid_stride(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    for (int i = first + t; i < n; i += 128) {
        row[t] = i < n ? in[i] : 0.0f;
        __syncthreads();  // barrier-divergence
        out[i] = row[t];
    }
}

extern "C" __global__ void clean_grid_stride(const float* in, float* out, int n) {
    __shared__ float row[64];
    int t = threadIdx.x, first = blockIdx.x * 64;
    for (int i = first + t; i - t < n; i += 128) {
        row[t] = i < n ? in[i] : 0.0f;
        __syncthreads();
        out[i] = row[t];
    }
}

// Rows of the matrix that are not there: their threads are still needed to fetch the tiles.
// launch: grid 1 2, block 8 8: in float32[15,16], in float32[16,8], out float32[15,8], 15
extern "C" __global__ void racy_rows_return_early(const float* A, const float* B, float* C, int M) {
    __shared__ float tile[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y;
    if (row >= M) return;
    float sum = 0.0f;
    for (int start = 0; start < 16; start += 8) {
        tile[y][x] = B[(start + y) * 8 + x];
        __syncthreads();  // info barrier-divergence
        for (int k = 0; k < 8; ++k) {
            float right = tile[k][x];  // uninitialised
            sum += (row < M ? A[row * 16 + start + k] : 0.0f) * right;
        }
        __syncthreads();  // info barrier-divergence
    }
    if (row < M) C[row * 8 + x] = sum;
}

extern "C" __global__ void clean_rows_return_early(const float* A, const float* B, float* C, int M) {
    __shared__ float tile[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y;
    float sum = 0.0f;
    for (int start = 0; start < 16; start += 8) {
        tile[y][x] = B[(start + y) * 8 + x];
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float right = tile[k][x];
            sum += (row < M ? A[row * 16 + start + k] : 0.0f) * right;
        }
        __syncthreads();
    }
    if (row < M) C[row * 8 + x] = sum;
}

// A search that ends for some before the others have met.
// launch: grid 2, block 64: in int32[128] below 4, out int32[128], 3
extern "C" __global__ void racy_found_and_gone(const int* in, int* out, int key) {
    __shared__ int row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (row[t] == key) { out[i] = t; return; }
    __syncthreads();  // info barrier-divergence
    if (row[t] != key) out[i] = -row[t];
}

extern "C" __global__ void clean_found_and_gone(const int* in, int* out, int key) {
    __shared__ int row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (row[t] == key) { out[i] = t; }
    __syncthreads();
    if (row[t] != key) out[i] = -row[t];
}

// The barrier of a warp also wants every lane that its mask names.
extern "C" __global__ void racy_half_a_warp(const int* in, int* out, int key) {  // hangs
    __shared__ int row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t % 32 < 16) {
        __syncwarp();  // barrier-divergence
        out[i] = row[t ^ 1];
    }
    __syncthreads();
    if (t % 32 >= 16) out[i] = row[t] - key;
}

extern "C" __global__ void clean_half_a_warp(const int* in, int* out, int key) {
    __shared__ int row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t % 32 < 16) {
        __syncwarp(0xffffu);
        out[i] = row[t ^ 1];
    }
    __syncthreads();
    if (t % 32 >= 16) out[i] = row[t] - key;
}

// So does a shuffle.
extern "C" __global__ void racy_shuffle_without_some(const int* in, int* out, int key) {  // hangs
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = in[i];
    if (t % 32 < 16) {
        sum += __shfl_xor_sync(0xffffffffu, sum, 8);  // barrier-divergence
    }
    __syncthreads();
    out[i] = sum - key;
}

extern "C" __global__ void clean_shuffle_without_some(const int* in, int* out, int key) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t, sum = in[i];
    if (t % 32 < 16) {
        sum += __shfl_xor_sync(0x0000ffffu, sum, 8);
    }
    __syncthreads();
    out[i] = sum - key;
}
