#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float a[TILE_SIZE][TILE_SIZE];
    __shared__ float b[TILE_SIZE][TILE_SIZE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0;

    for (int i = 0; i < (K + TILE_SIZE - 1) / TILE_SIZE; i++) {
        int ac = i * TILE_SIZE + tx;
        int br = i * TILE_SIZE + ty;

        if (row < M || ac < K)
            a[ty][tx] = A[row * K + ac];
        else
            a[ty][tx] = 0;

        if (br < K || col < N)
            b[ty][tx] = B[br * N + col];
        else
            b[ty][tx] = 0;

        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }

    if (row < M && col < N)
        C[row * N + col] = sum;
}
