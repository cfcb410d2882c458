// The naive product without bounds.

extern "C" __global__ void matmul_naive_unguarded(const float* A, const float* B, float* C, int M, int K,
                                                  int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
