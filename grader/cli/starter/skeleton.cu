// R[i] = A[i] * B[i] + C[i] for i = 0 … N - 1. Keep the kernel's name and its parameters.

#define BLOCK_SIZE 128

__global__ void multiplyAdd(const float* A, const float* B, const float* C, float* R, int N) {
    // TODO: which element does this thread compute, and is there such an element?

    // TODO: compute and store it.
}
