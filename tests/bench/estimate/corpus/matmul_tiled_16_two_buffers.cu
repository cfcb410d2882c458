// Tiles of 16 × 16 in two buffers, with one barrier for each.

extern "C" __global__ void matmul_tiled_16_two_buffers(const float* A, const float* B, float* C, int M, int K,
                                                       int N) {
    __shared__ float a[2][16][16];
    __shared__ float b[2][16][16];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, now = 0;
    float sum = 0;
    a[0][ty][tx] = A[row * K + tx];
    b[0][ty][tx] = B[ty * N + col];
    __syncthreads();
    for (int start = 0; start < K; start += 16) {
        int next = start + 16;
        if (next < K) {
            a[1 - now][ty][tx] = A[row * K + next + tx];
            b[1 - now][ty][tx] = B[(next + ty) * N + col];
        }
        for (int k = 0; k < 16; ++k) sum += a[now][ty][k] * b[now][k][tx];
        __syncthreads();
        now = 1 - now;
    }
    C[row * N + col] = sum;
}
