__global__ void vectorAdd(float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        A[i] += B[i];
        C[i] = A[i];
    }
}
