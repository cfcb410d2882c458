#define TILE_SIZE 16
// the inner loop ends where the matrix ends; nothing is padded
__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float ldsA[TILE_SIZE][TILE_SIZE], ldsB[TILE_SIZE][TILE_SIZE];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * TILE_SIZE + ty, col = bx * TILE_SIZE + tx;
    float out = 0;
    for (int base = 0; base < K; base += TILE_SIZE) {
        int width = min(TILE_SIZE, K - base);
        if (row < M && ty < width) ldsA[ty][tx] = A[row * K + base + tx];
        if (col < N && ty < width) ldsB[ty][tx] = B[(base + ty) * N + col];
        __syncthreads();
        if (row < M && col < N) {
            for (int q = 0; q < width; ++q) out += ldsA[ty][q] * ldsB[q][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = out;
}
