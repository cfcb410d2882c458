// style: 25 by 25 tiles, blocks of 625 threads with a partial last warp
static const unsigned int TILE_DIM = 25u;

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_DIM][TILE_DIM];
    __shared__ float Bs[TILE_DIM][TILE_DIM];
    int row = blockIdx.y * TILE_DIM + threadIdx.y;
    int col = blockIdx.x * TILE_DIM + threadIdx.x;
    bool rowInside = row < M, colInside = col < N;
    float sum = 0.0f;
    for (int t = 0; t < (int)((K + TILE_DIM - 1) / TILE_DIM); t++) {
        int kx = t * TILE_DIM + threadIdx.x;
        int ky = t * TILE_DIM + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = rowInside && kx < K ? A[row * K + kx] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = colInside && ky < K ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (unsigned int k = 0; k < TILE_DIM; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (rowInside && colInside) C[row * N + col] = sum;
}
