#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE];
    __shared__ float tileB[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int ca = t * TILE_SIZE + threadIdx.x;
        int rb = t * TILE_SIZE + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = (row < M && ca < K) ? A[row * K + ca] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = (rb < K && col < N) ? B[rb * N + col] : 0.0f;
        __syncthreads();

        float partial = 0.0f;
        for (int k = 0; k < TILE_SIZE; k++)
            partial += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];

        // add this phase's part to the result
        if (row < M && col < N)
            C[row * N + col] += partial;
        __syncthreads();
    }
}
