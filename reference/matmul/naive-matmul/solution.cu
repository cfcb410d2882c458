// Staff only. The model solution: one thread per element, x along the columns, one guard.

#define BLOCK_SIZE 16

__global__ void naiveMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * BLOCK_SIZE + threadIdx.y;
    const int col = blockIdx.x * BLOCK_SIZE + threadIdx.x;

    if (row < M && col < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += A[row * K + k] * B[k * N + col];
        }
        C[row * N + col] = sum;
    }
}
