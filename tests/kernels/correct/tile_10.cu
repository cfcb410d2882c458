// style: 10 by 10 tiles, no power of two, blocks of 100 threads
#define TILE_SIZE 10

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int y = blockIdx.y * TILE_SIZE + ty, x = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    int k = 0;
    while (k < K) {
        if (y < M && k + tx < K) As[ty][tx] = A[y * K + (k + tx)]; else As[ty][tx] = 0.0f;
        if (k + ty < K && x < N) Bs[ty][tx] = B[(k + ty) * N + x]; else Bs[ty][tx] = 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; i++) sum += As[ty][i] * Bs[i][tx];
        __syncthreads();
        k += TILE_SIZE;
    }
    if (y < M && x < N) C[y * N + x] = sum;
}
