#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float s_A[TILE_SIZE][TILE_SIZE];
    __shared__ float s_B[TILE_SIZE][TILE_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.x * TILE_SIZE + ty;
    int col = blockIdx.y * TILE_SIZE + tx;
    float value = 0.0f;
    int numTiles = (K + TILE_SIZE - 1) / TILE_SIZE;
    for (int m = 0; m < numTiles; ++m) {
        s_A[ty][tx] = (row < M && m * TILE_SIZE + tx < K) ? A[row * K + m * TILE_SIZE + tx] : 0.0f;
        s_B[ty][tx] = (m * TILE_SIZE + ty < K && col < N) ? B[(m * TILE_SIZE + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) value += s_A[ty][k] * s_B[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = value;
}
