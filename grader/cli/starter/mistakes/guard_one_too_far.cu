#define BLOCK_SIZE 128

__global__ void multiplyAdd(const float* A, const float* B, const float* C, float* R, int N) {
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    if (i <= N) R[i] = A[i] * B[i] + C[i];
}
