#define TILE_WIDTH 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Bs[TILE_WIDTH][TILE_WIDTH];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE_WIDTH + ty;
    int col = blockIdx.x * TILE_WIDTH + tx;
    float sum = 0.0f;

    for (int tile = 0; tile < (K + TILE_WIDTH - 1) / TILE_WIDTH; tile++) {
        int A_col = tile * TILE_WIDTH + tx;
        if (row < M && A_col < K) {
            As[ty][tx] = A[row * K + A_col];
        } else {
            As[ty][tx] = 0.0f;
        }
        int B_row = tile * TILE_WIDTH + ty;
        if (B_row < K && col < N) {
            Bs[ty][tx] = B[B_row * N + col];
        } else {
            Bs[ty][tx] = 0.0f;
        }

        // Synchronize to make sure all threads have loaded their data
        __syncthreads();

        for (int k = 0; k < TILE_WIDTH; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
    }
    // Synchronize before loading the next tile
    __syncthreads();

    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
