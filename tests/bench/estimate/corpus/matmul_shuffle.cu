// Each lane keeps an element of A's row and of B's rows; A's are passed on by shuffles.

extern "C" __global__ void matmul_shuffle(const float* A, const float* B, float* C, int M, int K, int N) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (int start = 0; start < K; start += 32) {
        float mine = A[row * K + start + threadIdx.x];
        for (int k = 0; k < 32; ++k) sum += __shfl_sync(0xffffffff, mine, k) * B[(start + k) * N + col];
    }
    C[row * N + col] = sum;
}
