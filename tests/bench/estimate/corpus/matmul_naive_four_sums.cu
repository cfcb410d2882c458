// The naive product whose sum runs over four parts of K in turn.

extern "C" __global__ void matmul_naive_four_sums(const float* A, const float* B, float* C, int M, int K,
                                                  int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;
    float first = 0, second = 0, third = 0, fourth = 0;
    int part = K / 4;
    for (int k = 0; k < part; ++k) {
        first += A[row * K + k] * B[k * N + col];
        second += A[row * K + part + k] * B[(part + k) * N + col];
        third += A[row * K + 2 * part + k] * B[(2 * part + k) * N + col];
        fourth += A[row * K + 3 * part + k] * B[(3 * part + k) * N + col];
    }
    float sum = first + second + third + fourth;
    for (int k = 4 * part; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
