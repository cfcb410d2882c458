// Staff only. The baseline that tiling is compared with: one thread per element of C and no shared memory.
//
// It stands under both names, so that it is built and launched through the same interface as a submission.

#define TILE_SIZE 16

__device__ void multiply(const float* A, const float* B, float* C, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;

    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += A[row * k + i] * B[i * n + col];
    }
    C[row * n + col] = sum;
}

__global__ void naiveMatMul(const float* A, const float* B, float* C, int m, int n, int k) {
    multiply(A, B, C, m, n, k);
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int m, int n, int k) {
    multiply(A, B, C, m, n, k);
}
