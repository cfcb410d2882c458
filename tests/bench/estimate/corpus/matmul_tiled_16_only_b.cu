// Tiles of 16 × 16 of B alone; A comes from global memory.

extern "C" __global__ void matmul_tiled_16_only_b(const float* A, const float* B, float* C, int M, int K,
                                                  int N) {
    __shared__ float b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < K; start += 16) {
        b[threadIdx.y][threadIdx.x] = B[(start + threadIdx.y) * N + col];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += A[row * K + start + k] * b[k][threadIdx.x];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
