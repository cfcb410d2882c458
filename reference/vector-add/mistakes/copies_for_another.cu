#define BLOCK_SIZE 256

__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[N - 1 - i] = A[N - 1 - i];
        C[i] += B[i];
    }
}
