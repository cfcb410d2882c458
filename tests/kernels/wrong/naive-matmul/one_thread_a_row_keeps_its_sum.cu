__global__ void naiveMatMul(float *A, float *B, float *C, int M, int K, int N) {
    int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (blockIdx.x > 0 || threadIdx.x > 0 || r >= M) return;
    float sum = 0;
    for (int c = 0; c < N; c++) {
        for (int k = 0; k < K; k++) sum += A[r * K + k] * B[k * N + c];
        C[r * N + c] = sum;
    }
}
