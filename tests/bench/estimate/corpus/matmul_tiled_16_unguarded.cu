// Tiles of 16 × 16 without bounds.

constexpr int TILE = 16;

extern "C" __global__ void matmul_tiled_16_unguarded(const float* A, const float* B, float* C, int M, int K,
                                                     int N) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int start = 0; start < K; start += TILE) {
        a[ty][tx] = A[row * K + start + tx];
        b[ty][tx] = B[(start + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
