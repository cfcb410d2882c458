// Tiles of 16 × 16; the next elements wait in registers while a tile is used.

extern "C" __global__ void matmul_tiled_16_prefetch(const float* A, const float* B, float* C, int M, int K,
                                                    int N) {
    __shared__ float a[16][16];
    __shared__ float b[16][16];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0, x = A[row * K + tx], y = B[ty * N + col];
    for (int start = 0; start < K; start += 16) {
        a[ty][tx] = x;
        b[ty][tx] = y;
        __syncthreads();
        if (start + 16 < K) {
            x = A[row * K + start + 16 + tx];
            y = B[(start + 16 + ty) * N + col];
        }
        for (int k = 0; k < 16; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
