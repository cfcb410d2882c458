// Lab 4 - matrix multiplication with shared memory
#include <stdio.h>

#define TILE_WIDTH 16

__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N) {
  __shared__ float subTileM[TILE_WIDTH][TILE_WIDTH];
  __shared__ float subTileN[TILE_WIDTH][TILE_WIDTH];

  int bx = blockIdx.x;  int by = blockIdx.y;
  int tx = threadIdx.x; int ty = threadIdx.y;

  // the element of C to work on
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;

  for (int m = 0; m < (K - 1) / TILE_WIDTH + 1; ++m) {
    if (Row < M && m * TILE_WIDTH + tx < K)
      subTileM[ty][tx] = A[Row * K + m * TILE_WIDTH + tx];
    else
      subTileM[ty][tx] = 0;

    if (Col < N && m * TILE_WIDTH + ty < K)
      subTileN[ty][tx] = B[(m * TILE_WIDTH + ty) * N + Col];
    else
      subTileN[ty][tx] = 0;

    __syncthreads();

    for (int k = 0; k < TILE_WIDTH; ++k)
      Pvalue += subTileM[ty][k] * subTileN[k][tx];
  }

  if (Row < M && Col < N)
    C[Row * N + Col] = Pvalue;
}
