__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int i = threadIdx.x * gridDim.x + blockIdx.x;
    if (i < N) {
        C[i] = A[i] + B[i];
    }
}
