// style: a device function that calls itself
__device__ __noinline__ float dot(const float* a, const float* b, int n, int step) {
    return n == 1 ? a[0] * b[0] : dot(a, b, n / 2, step) + dot(a + n / 2, b + n / 2 * step, n - n / 2, step);
}
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        sum += dot(&As[ty][0], &Bs[0][tx], TILE_SIZE, TILE_SIZE);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
