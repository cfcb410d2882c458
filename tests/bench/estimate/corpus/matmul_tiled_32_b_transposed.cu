// Tiles of 32 × 32, that of B kept transposed.

constexpr int TILE = 32;

extern "C" __global__ void matmul_tiled_32_b_transposed(const float* A, const float* B, float* C, int M,
                                                        int K, int N) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[tx][ty] = start + ty < K && col < N ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[tx][k];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
