__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = A[i];
    float b = B[i];
    if (i < N) C[i] = a + b;
}
