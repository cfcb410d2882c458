// The naive product with its sum in global memory all the time.

extern "C" __global__ void matmul_sum_in_memory(const float* A, const float* B, float* C, int M, int K,
                                                int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    C[row * N + col] = 0;
    for (int k = 0; k < K; ++k) C[row * N + col] += A[row * K + k] * B[k * N + col];
}
