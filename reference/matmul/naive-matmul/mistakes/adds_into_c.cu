#define BLOCK_SIZE 16

__global__ void naiveMatMul(float* A, float* B, float* C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < M && col < N) {
        for (int k = 0; k < K; k++) {
            C[row * N + col] += A[row * K + k] * B[k * N + col];
        }
    }
}
