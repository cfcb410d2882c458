// Staff only. The model solution: one thread per element, and a guard for the threads beyond the end.

__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
