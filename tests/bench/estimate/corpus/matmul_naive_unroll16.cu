// The naive product with a loop unrolled 16 times.

extern "C" __global__ void matmul_naive_unroll16(const float* A, const float* B, float* C, int M, int K,
                                                 int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float sum = 0;
#pragma unroll 16
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
