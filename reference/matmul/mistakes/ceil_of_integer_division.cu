#include <math.h>

const int TILE_SIZE = 16;

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];

    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    int phases = (int)ceil((double)(K / TILE_SIZE));  // round up

    for (int ph = 0; ph < phases; ++ph) {
        int ak = ph * TILE_SIZE + threadIdx.x;
        int bk = ph * TILE_SIZE + threadIdx.y;
        if (row < M && ak < K) As[threadIdx.y][threadIdx.x] = A[row * K + ak];
        else                   As[threadIdx.y][threadIdx.x] = 0.0f;
        if (bk < K && col < N) Bs[threadIdx.y][threadIdx.x] = B[bk * N + col];
        else                   Bs[threadIdx.y][threadIdx.x] = 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE_SIZE; ++k)
            sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
