// Staff only. The baseline for coalescing: right results, but threadIdx.x counts rows, so that the threads of a
// warp read from as many rows of A as they can, a sector for each. Blocks keep their places, so that it is right for
// every shape.

#define BLOCK_SIZE 16

__global__ void naiveMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * BLOCK_SIZE + threadIdx.x;
    const int col = blockIdx.x * BLOCK_SIZE + threadIdx.y;
    if (row >= M || col >= N) return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}
