__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
