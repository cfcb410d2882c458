// style: 40 KB of shared memory, panels 320 deep
#define TILE_SIZE 16
#define DEPTH 320

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][DEPTH];
    __shared__ float Bs[DEPTH][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += DEPTH) {
        const int depth = min(DEPTH, K - start);
        for (int k = tx; k < depth; k += TILE_SIZE) As[ty][k] = row < M ? A[row * K + start + k] : 0.0f;
        for (int k = ty; k < depth; k += TILE_SIZE) Bs[k][tx] = col < N ? B[(start + k) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < depth; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
