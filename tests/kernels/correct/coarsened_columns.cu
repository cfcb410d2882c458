// style: two columns per thread; the right half of the blocks has nothing to do
#define TILE_SIZE 16
#define COARSE 2

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int colStart = blockIdx.x * TILE_SIZE * COARSE + threadIdx.x;
    if (blockIdx.x * TILE_SIZE * COARSE >= N) return;  // the whole block leaves together

    float sum[COARSE];
    for (int c = 0; c < COARSE; ++c) sum[c] = 0.0f;

    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int kx = t * TILE_SIZE + threadIdx.x;
        int ky = t * TILE_SIZE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        for (int c = 0; c < COARSE; ++c) {
            int col = colStart + c * TILE_SIZE;
            Bs[threadIdx.y][threadIdx.x] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
            __syncthreads();
            for (int k = 0; k < TILE_SIZE; k++) sum[c] += As[threadIdx.y][k] * Bs[k][threadIdx.x];
            __syncthreads();
        }
    }
    for (int c = 0; c < COARSE; ++c) {
        int col = colStart + c * TILE_SIZE;
        if (row < M && col < N) C[row * N + col] = sum[c];
    }
}
