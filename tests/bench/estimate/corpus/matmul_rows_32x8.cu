// 32 × 8 threads make tiles of 32 × 32, four rows each.

extern "C" __global__ void matmul_rows_32x8(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[32][32];
    __shared__ float b[32][32];
    int ty = threadIdx.y, tx = threadIdx.x;
    int top = blockIdx.y * 32, col = blockIdx.x * 32 + tx;
    float sum[4] = {};
    for (int start = 0; start < K; start += 32) {
        for (int i = ty; i < 32; i += 8) {
            a[i][tx] = A[(top + i) * K + start + tx];
            b[i][tx] = B[(start + i) * N + col];
        }
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            float y = b[k][tx];
            for (int i = 0; i < 4; ++i) sum[i] += a[ty + 8 * i][k] * y;
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) C[(top + ty + 8 * i) * N + col] = sum[i];
}
