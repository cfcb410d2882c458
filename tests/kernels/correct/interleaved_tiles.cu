// style: both tiles in one shared array of float2
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float2 tiles[TILE_SIZE][TILE_SIZE];  // x: from A, y: from B
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int kx = t * TILE_SIZE + threadIdx.x;
        int ky = t * TILE_SIZE + threadIdx.y;
        float2 pair = make_float2(0.0f, 0.0f);
        if (row < M && kx < K) pair.x = A[row * K + kx];
        if (ky < K && col < N) pair.y = B[ky * N + col];
        tiles[threadIdx.y][threadIdx.x] = pair;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) sum += tiles[threadIdx.y][k].x * tiles[k][threadIdx.x].y;
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
