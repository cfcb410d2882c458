// Tiles of TILE × TILE; a thread makes COUNT elements, TILE columns apart.

template <int TILE, int COUNT>
__device__ __forceinline__ void product(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE * COUNT + tx;
    float sum[COUNT] = {};
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        for (int i = 0; i < COUNT; ++i) {
            int at = col + i * TILE;
            b[ty][tx] = start + ty < K && at < N ? B[(start + ty) * N + at] : 0.0f;
            __syncthreads();
            for (int k = 0; k < TILE; ++k) sum[i] += a[ty][k] * b[k][tx];
            __syncthreads();
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        if (row < M && col + i * TILE < N) C[row * N + col + i * TILE] = sum[i];
    }
}

#define PRODUCT(tile, count)                                                                                  \
    extern "C" __global__ void matmul_tiled_##tile##_columns##count(const float* A, const float* B, float* C, \
                                                                    int M, int K, int N) {                    \
        product<tile, count>(A, B, C, M, K, N);                                                               \
    }

PRODUCT(16, 2)
PRODUCT(16, 4)
PRODUCT(32, 2)
PRODUCT(32, 4)
