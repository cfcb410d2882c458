// style: register tiling, four rows per thread; the lower three quarters of the blocks leave at once
#define TILE_SIZE 8
#define ROWS 4

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[ROWS * TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int top = blockIdx.y * ROWS * TILE_SIZE;
    const int col = blockIdx.x * TILE_SIZE + tx;
    if (top >= M) return;

    float acc[ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int row = top + r * TILE_SIZE + ty;
            As[r * TILE_SIZE + ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
        }
        Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) {
            const float b = Bs[k][tx];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) acc[r] += As[r * TILE_SIZE + ty][k] * b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        const int row = top + r * TILE_SIZE + ty;
        if (row < M && col < N) C[row * N + col] = acc[r];
    }
}
