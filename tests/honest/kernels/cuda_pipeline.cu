// style: tiles copied asynchronously, by cuda_pipeline.h
#include <cuda_pipeline.h>
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        if (row < M && kx < K)
            __pipeline_memcpy_async(&As[ty][tx], &A[row * K + kx], sizeof(float));
        else
            As[ty][tx] = 0.0f;
        if (ky < K && col < N)
            __pipeline_memcpy_async(&Bs[ty][tx], &B[ky * N + col], sizeof(float));
        else
            Bs[ty][tx] = 0.0f;
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
