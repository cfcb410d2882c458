#define TILE_SIZE 16

__global__ void naiveMatMul(float* A, float* B, float* C, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

__global__ void tiledMatMul(float* A, float* B, float* C, int m, int n, int k) {
    // TODO: the same through tiles in shared memory.
}
