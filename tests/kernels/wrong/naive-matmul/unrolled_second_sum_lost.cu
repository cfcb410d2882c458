#define BLOCK_SIZE 16
__global__ void naiveMatMul(float* A, float* B, float* C, int M, int K, int N) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float s0 = 0.0f, s1 = 0.0f;
    int k = 0;
    for (; k + 1 < K; k += 2) {
        s0 += A[row * K + k] * B[k * N + col];
        s1 += A[row * K + k + 1] * B[(k + 1) * N + col];
    }
    if (k < K) {
        s0 += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = s0;
}
