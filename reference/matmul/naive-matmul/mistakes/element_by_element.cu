#define BLOCK_SIZE 16

__global__ void naiveMatMul(float* A, float* B, float* C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < M && col < N) {
        C[row * N + col] = A[row * N + col] * B[row * N + col];
    }
}
