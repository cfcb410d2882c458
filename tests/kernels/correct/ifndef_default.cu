// style: tile size with #ifndef default, include guards and system headers
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 16
#endif

__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N)
{
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
    const int row = blockIdx.y * BLOCK_SIZE + threadIdx.y;
    const int col = blockIdx.x * BLOCK_SIZE + threadIdx.x;
    float Csub = 0;

    for (int m = 0; m < K; m += BLOCK_SIZE) {
        As[threadIdx.y][threadIdx.x] = (row >= M || m + (int)threadIdx.x >= K) ? 0.f : A[row * K + m + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = (col >= N || m + (int)threadIdx.y >= K) ? 0.f : B[(m + threadIdx.y) * N + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
            Csub += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = Csub;
}
