// Tiles of 16 × 16 of A alone; B comes from global memory.

extern "C" __global__ void matmul_tiled_16_only_a(const float* A, const float* B, float* C, int M, int K,
                                                  int N) {
    __shared__ float a[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < K; start += 16) {
        a[threadIdx.y][threadIdx.x] = A[row * K + start + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += a[threadIdx.y][k] * B[(start + k) * N + col];
        __syncthreads();
    }
    C[row * N + col] = sum;
}
