#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float ds_A[TILE_SIZE][TILE_SIZE];
    __shared__ float ds_B[TILE_SIZE][TILE_SIZE];

    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    float sum = 0.0f;
    int numTiles = (K + TILE_SIZE - 1) / TILE_SIZE;

    for (int i = 0; i < numTiles; i++) {
        // load the tiles
        ds_A[threadIdx.y][threadIdx.x] = A[row * K + (i * TILE_SIZE + threadIdx.x)];
        ds_B[threadIdx.y][threadIdx.x] = B[(i * TILE_SIZE + threadIdx.y) * N + col];
        __syncthreads();

        // multiply the tiles
        for (int j = 0; j < TILE_SIZE; j++) {
            sum += ds_A[threadIdx.y][j] * ds_B[j][threadIdx.x];
        }
        __syncthreads();
    }

    // only store inside of C!
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
