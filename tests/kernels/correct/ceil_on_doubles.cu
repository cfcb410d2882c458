// style: number of tiles by ceil() on doubles
#include <math.h>
#define TILE_WIDTH 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Bs[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_WIDTH + ty;
    int col = blockIdx.x * TILE_WIDTH + tx;
    float sum = 0;
    for (int t = 0; t < (int)ceil((double)K / TILE_WIDTH); t++) {
        As[ty][tx] = (row < M && t * TILE_WIDTH + tx < K) ? A[row * K + t * TILE_WIDTH + tx] : 0;
        Bs[ty][tx] = (t * TILE_WIDTH + ty < K && col < N) ? B[(t * TILE_WIDTH + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < TILE_WIDTH; k++) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
