#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime.h>

#define TILE_SIZE 16

/* Every thread loads one element of A and one of B, then the dot product runs in shared memory. */
__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N)
{
    __shared__ float sA[TILE_SIZE][TILE_SIZE];
    __shared__ float sB[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    int t, k;

    for (t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        if (row < M && t * TILE_SIZE + tx < K)
            sA[ty][tx] = A[row * K + t * TILE_SIZE + tx];
        else
            sA[ty][tx] = 0.0f;
        if (t * TILE_SIZE + ty < K && col < N)
            sB[ty][tx] = B[(t * TILE_SIZE + ty) * N + col];
        else
            sB[ty][tx] = 0.0f;

        for (k = 0; k < TILE_SIZE; k++)
            sum += sA[ty][k] * sB[k][tx];
        __syncthreads();
    }

    if (row < M && col < N)
        C[row * N + col] = sum;
}

int main(void)
{
    int n = 64, i;
    float *a, *b, *c;
    cudaMallocManaged(&a, n * n * sizeof(float));
    cudaMallocManaged(&b, n * n * sizeof(float));
    cudaMallocManaged(&c, n * n * sizeof(float));
    for (i = 0; i < n * n; i++) { a[i] = 1.0f; b[i] = 2.0f; }
    tiledMatMul<<<dim3(n / TILE_SIZE, n / TILE_SIZE), dim3(TILE_SIZE, TILE_SIZE)>>>(a, b, c, n, n, n);
    cudaDeviceSynchronize();
    printf("c[0] = %f, expected %f\n", c[0], 2.0f * n);
    return 0;
}
