// Four by four elements each, with two buffers and the next elements in registers.

extern "C" __global__ void matmul_registers_4x4_prefetch(const float* A, const float* B, float* C, int M,
                                                         int K, int N) {
    __shared__ float a[2][16][68];
    __shared__ float b[2][16][64];
    int ty = threadIdx.y, tx = threadIdx.x, thread = ty * 16 + tx;
    int top = blockIdx.y * 64, left = blockIdx.x * 64, now = 0;
    const float* from_a = A + (top + thread / 16) * K + thread % 16;
    const float* from_b = B + (thread / 64) * N + left + thread % 64;
    float sum[4][4] = {}, x[4], y[4];
    for (int i = 0; i < 4; ++i) a[0][thread % 16][thread / 16 + 16 * i] = from_a[16 * i * K];
    for (int i = 0; i < 4; ++i) b[0][thread / 64 + 4 * i][thread % 64] = from_b[4 * i * N];
    __syncthreads();
    for (int start = 16; start <= K; start += 16) {
        if (start < K) {
            for (int i = 0; i < 4; ++i) x[i] = from_a[16 * i * K + start];
            for (int i = 0; i < 4; ++i) y[i] = from_b[(4 * i + start) * N];
        }
        for (int k = 0; k < 16; ++k) {
            float4 left_values = *(const float4*)&a[now][k][ty * 4];
            float u[4] = {left_values.x, left_values.y, left_values.z, left_values.w};
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) sum[i][j] += u[i] * b[now][k][tx + 16 * j];
            }
        }
        if (start < K) {
            for (int i = 0; i < 4; ++i) a[1 - now][thread % 16][thread / 16 + 16 * i] = x[i];
            for (int i = 0; i < 4; ++i) b[1 - now][thread / 64 + 4 * i][thread % 64] = y[i];
        }
        __syncthreads();
        now = 1 - now;
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) C[(top + ty * 4 + i) * N + left + tx + 16 * j] = sum[i][j];
    }
}
