// Tiles of 16 × 16 in blocks that reserve 44 KiB more of shared memory.

constexpr int TILE = 16;

extern "C" __global__ void matmul_tiled_16_low_occupancy(const float* A, const float* B, float* C, int M,
                                                         int K, int N) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    __shared__ float unused[11264];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = row < M && start + tx < K ? A[row * K + start + tx] : 0.0f;
        b[ty][tx] = start + ty < K && col < N ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
    if (sum == -1.5f) {
        unused[threadIdx.x * 16 + threadIdx.y] = sum;
        C[0] = unused[K % 11264];
    }
}
