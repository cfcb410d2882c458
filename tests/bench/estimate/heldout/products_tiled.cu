// Products by tiles in shared memory, of several shapes and depths.

#define PRODUCT(name) \
    extern "C" __global__ void name(const float* A, const float* B, float* C, int M, int K, int N)
#define ARGUMENTS A, B, C, M, K, N

// A block of W × H threads makes as many elements from tiles of H × DEPTH and DEPTH × W.
template <int W, int H, int DEPTH, int PAD>
__device__ void tiles(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[H][DEPTH + PAD];
    __shared__ float b[DEPTH][W + PAD];
    int top = blockIdx.y * H, left = blockIdx.x * W, tx = threadIdx.x, ty = threadIdx.y, thread = ty * W + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = thread; i < H * DEPTH; i += W * H) {
            int y = i / DEPTH, x = i % DEPTH;
            a[y][x] = top + y < M && start + x < K ? A[(top + y) * K + start + x] : 0.0f;
        }
        for (int i = thread; i < DEPTH * W; i += W * H) {
            int y = i / W, x = i % W;
            b[y][x] = start + y < K && left + x < N ? B[(start + y) * N + left + x] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; k++) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (top + ty < M && left + tx < N) C[(top + ty) * N + left + tx] = sum;
}

PRODUCT(tiles_16x8) { tiles<16, 8, 16, 0>(ARGUMENTS); }
PRODUCT(tiles_8x16) { tiles<8, 16, 8, 0>(ARGUMENTS); }
PRODUCT(tiles_32x8) { tiles<32, 8, 8, 0>(ARGUMENTS); }
PRODUCT(tiles_24) { tiles<24, 24, 24, 0>(ARGUMENTS); }
PRODUCT(tiles_24_padded) { tiles<24, 24, 24, 1>(ARGUMENTS); }
PRODUCT(tiles_8_deep) { tiles<8, 8, 32, 0>(ARGUMENTS); }
PRODUCT(tiles_16_shallow) { tiles<16, 16, 4, 0>(ARGUMENTS); }
PRODUCT(tiles_16_deep) { tiles<16, 16, 32, 0>(ARGUMENTS); }
PRODUCT(tiles_16_deeper) { tiles<16, 16, 64, 1>(ARGUMENTS); }
PRODUCT(tiles_32_shallow) { tiles<32, 32, 8, 0>(ARGUMENTS); }
PRODUCT(tiles_64x4) { tiles<64, 4, 16, 0>(ARGUMENTS); }

// Loops, guards and qualifiers of one tiled product; UNROLL stands before the inner loop.
#define SQUARE_TILES(name, TILE, UNROLL, STEP)                                                      \
    extern "C" __global__ void name(const float* __restrict__ A, const float* __restrict__ B,       \
                                    float* __restrict__ C, const int M, const int K, const int N) { \
        __shared__ float a[TILE][TILE];                                                             \
        __shared__ float b[TILE][TILE];                                                             \
        int tx = threadIdx.x, ty = threadIdx.y;                                                     \
        int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;                          \
        float sum = 0.0f;                                                                           \
        for (int tile = 0; tile < (K + TILE - 1) / TILE; tile++) {                                  \
            int x = tile * TILE + tx, y = tile * TILE + ty;                                         \
            a[ty][tx] = row < M && x < K ? A[row * K + x] : 0.0f;                                   \
            b[ty][tx] = y < K && column < N ? B[y * N + column] : 0.0f;                             \
            __syncthreads();                                                                        \
            _Pragma(UNROLL) for (int k = 0; k < TILE; k++) STEP;                                    \
            __syncthreads();                                                                        \
        }                                                                                           \
        if (row < M && column < N) C[row * N + column] = sum;                                       \
    }

SQUARE_TILES(tiles_16_restrict, 16, "unroll", sum += a[ty][k] * b[k][tx])
SQUARE_TILES(tiles_16_unroll2, 16, "unroll 2", sum += a[ty][k] * b[k][tx])
SQUARE_TILES(tiles_16_unroll8, 16, "unroll 8", sum += a[ty][k] * b[k][tx])
SQUARE_TILES(tiles_32_unroll8, 32, "unroll 8", sum += a[ty][k] * b[k][tx])
SQUARE_TILES(tiles_16_guard_inside, 16, "unroll", if (tile * 16 + k < K) sum += a[ty][k] * b[k][tx])

// The tile of A lies transposed: stores of a warp meet in one bank.
template <int PAD>
__device__ void transposed(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[32][32 + PAD];
    __shared__ float b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 32) {
        a[tx][ty] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty][tx] = start + ty < K && column < N ? B[(start + ty) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][ty] * b[k][tx];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}

PRODUCT(tiles_32_a_turned) { transposed<0>(ARGUMENTS); }
PRODUCT(tiles_32_a_turned_padded) { transposed<1>(ARGUMENTS); }

// Both tiles in one dynamic array.
PRODUCT(tiles_32_dynamic) {
    extern __shared__ float memory[];
    float *a = memory, *b = memory + 1024;
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, column = blockIdx.x * 32 + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 32) {
        a[ty * 32 + tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty * 32 + tx] = start + ty < K && column < N ? B[(start + ty) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[ty * 32 + k] * b[k * 32 + tx];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}

// A block of any size has its tiles in dynamic memory: the compiler knows no extent.
PRODUCT(tiles_16_any_size) {
    extern __shared__ float memory[];
    int tile = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
    float *a = memory, *b = memory + tile * tile;
    int row = blockIdx.y * tile + ty, column = blockIdx.x * tile + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += tile) {
        a[ty * tile + tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty * tile + tx] = start + ty < K && column < N ? B[(start + ty) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; k++) sum += a[ty * tile + k] * b[k * tile + tx];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum;
}

// Sums are kept where students should not keep them: in shared memory, or in C.
PRODUCT(tiles_16_sum_shared) {
    __shared__ float a[16][16], b[16][16], sum[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    sum[ty][tx] = 0.0f;
    for (int start = 0; start < K; start += 16) {
        a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty][tx] = start + ty < K && column < N ? B[(start + ty) * N + column] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum[ty][tx] += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && column < N) C[row * N + column] = sum[ty][tx];
}

PRODUCT(tiles_16_sum_global) {
    __shared__ float a[16][16], b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    if (row < M && column < N) C[row * N + column] = 0.0f;
    for (int start = 0; start < K; start += 16) {
        a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty][tx] = start + ty < K && column < N ? B[(start + ty) * N + column] : 0.0f;
        __syncthreads();
        float sum = 0.0f;
        for (int k = 0; k < 16; k++) sum += a[ty][k] * b[k][tx];
        if (row < M && column < N) C[row * N + column] += sum;
        __syncthreads();
    }
}

// Quarter of the threads load the tile of A, four elements each.
PRODUCT(tiles_16_a_float4) {
    __shared__ float4 a[16][4];
    __shared__ float b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * 16, column = blockIdx.x * 16 + tx;
    int thread = ty * 16 + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 16) {
        if (thread < 64) {
            a[thread / 4][thread % 4] = *(const float4*)(A + (top + thread / 4) * K + start + thread % 4 * 4);
        }
        b[ty][tx] = B[(start + ty) * N + column];
        __syncthreads();
        for (int k = 0; k < 4; k++) {
            float4 v = a[ty][k];
            sum += v.x * b[4 * k][tx] + v.y * b[4 * k + 1][tx] + v.z * b[4 * k + 2][tx] + v.w * b[4 * k + 3][tx];
        }
        __syncthreads();
    }
    C[(top + ty) * N + column] = sum;
}

// A thread makes ROWS elements of a column; blocks have W × H threads and tiles a depth of W.
template <int W, int H, int ROWS>
__device__ void rows(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[H * ROWS][W];
    __shared__ float b[W][W];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * H * ROWS, column = blockIdx.x * W + tx;
    float sum[ROWS] = {};
    for (int start = 0; start < K; start += W) {
        for (int y = ty; y < H * ROWS; y += H) {
            a[y][tx] = top + y < M && start + tx < K ? A[(top + y) * K + start + tx] : 0.0f;
        }
        for (int y = ty; y < W; y += H) {
            b[y][tx] = start + y < K && column < N ? B[(start + y) * N + column] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < W; k++) {
            float value = b[k][tx];
            for (int r = 0; r < ROWS; r++) sum[r] += a[ty + r * H][k] * value;
        }
        __syncthreads();
    }
    for (int r = 0; r < ROWS; r++) {
        int row = top + ty + r * H;
        if (row < M && column < N) C[row * N + column] = sum[r];
    }
}

PRODUCT(tiles_16_rows2) { rows<16, 16, 2>(ARGUMENTS); }
PRODUCT(tiles_16_rows3) { rows<16, 16, 3>(ARGUMENTS); }
PRODUCT(tiles_16_rows8) { rows<16, 16, 8>(ARGUMENTS); }
PRODUCT(tiles_32x4_rows8) { rows<32, 4, 8>(ARGUMENTS); }
PRODUCT(tiles_32x16_rows2) { rows<32, 16, 2>(ARGUMENTS); }
extern "C" __global__ void __launch_bounds__(256, 8)
    tiles_16_rows4_bounded(const float* A, const float* B, float* C, int M, int K, int N) {
    rows<16, 16, 4>(ARGUMENTS);
}
