// Staff only. What traffic is compared with: each element of A, B and C is read once.

#define BLOCK_SIZE 128

__global__ void multiplyAdd(const float* A, const float* B, const float* C, float* R, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) R[i] = A[i] * B[i] + C[i];
}
