#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float Ads[TILE_SIZE][TILE_SIZE];
    __shared__ float Bds[TILE_SIZE][TILE_SIZE];

    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int row = by * TILE_SIZE + ty;
    int col = bx * TILE_SIZE + tx;

    float value = 0;
    for (int ph = 0; ph < (K + TILE_SIZE - 1) / TILE_SIZE; ++ph) {
        if ((row < M) && (ph * TILE_SIZE + tx) < K)
            Ads[ty][tx] = A[row * N + ph * TILE_SIZE + tx];   // N numbers per row
        else
            Ads[ty][tx] = 0.0f;
        if ((ph * TILE_SIZE + ty) < K && col < N)
            Bds[ty][tx] = B[(ph * TILE_SIZE + ty) * N + col];
        else
            Bds[ty][tx] = 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE_SIZE; ++k) {
            value += Ads[ty][k] * Bds[k][tx];
        }
        __syncthreads();
    }
    if ((row < M) && (col < N))
        C[row * N + col] = value;
}
