__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 4 && i < N; i++) {
        C[i] = A[i] + B[i];
    }
}
