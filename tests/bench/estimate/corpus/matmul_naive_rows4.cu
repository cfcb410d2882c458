// A naive product in which a thread makes four rows of a column.

extern "C" __global__ void matmul_naive_rows4(const float* A, const float* B, float* C, int M, int K, int N) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row + 3 >= M || col >= N) return;
    float sum[4] = {};
    for (int k = 0; k < K; ++k) {
        float b = B[k * N + col];
        for (int i = 0; i < 4; ++i) sum[i] += A[(row + i) * K + k] * b;
    }
    for (int i = 0; i < 4; ++i) C[(row + i) * N + col] = sum[i];
}
