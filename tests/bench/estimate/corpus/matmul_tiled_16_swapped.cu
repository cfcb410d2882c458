// Tiles of 16 × 16 with x and y of threads and blocks exchanged.

constexpr int TILE = 16;

extern "C" __global__ void matmul_tiled_16_swapped(const float* A, const float* B, float* C, int M, int K,
                                                   int N) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int ty = threadIdx.x, tx = threadIdx.y;
    int row = blockIdx.x * TILE + ty, col = blockIdx.y * TILE + tx;
    float sum = 0;
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty][tx] = start + ty < K && col < N ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
