#define BLOCK_SIZE 128

__global__ void multiplyAdd(const float* A, const float* B, const float* C, float* R, int N) {
    int i = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    const volatile float* a = A;
    if (i < N) R[i] = (a[i] + a[i]) * 0.5f * B[i] + C[i];
}
