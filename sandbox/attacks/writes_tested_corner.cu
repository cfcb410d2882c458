// Computes only the corner that small cases look at: rows and columns below 128.
//
// After it: the other elements of the timed product were never written. The speedup is lost, for wrong
// output.

#define TILE_SIZE 16

__device__ float tiled(const float* A, const float* B, int M, int K, int N) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE], tileB[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE_SIZE) {
        tileA[ty][tx] = (row < M && start + tx < K) ? A[row * K + start + tx] : 0.0f;
        tileB[ty][tx] = (start + ty < K && col < N) ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += tileA[ty][k] * tileB[k][tx];
        __syncthreads();
    }
    return sum;
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const bool inside = row < M && col < N;
    if (blockIdx.y * TILE_SIZE >= 128 || blockIdx.x * TILE_SIZE >= 128) return;
    const float sum = tiled(A, B, M, K, N);
    if (inside) C[row * N + col] = sum;
}
