// Double buffering: the next tiles are copied asynchronously while the present ones are multiplied.
#include <cuda_pipeline.h>
#define TILE 16
__device__ void fetch(float (*a)[TILE], float (*b)[TILE], const float* A, const float* B, int row, int column, int start, int K,
                      int N) {
    __pipeline_memcpy_async(&a[threadIdx.y][threadIdx.x], &A[row * K + start + threadIdx.x], sizeof(float));
    __pipeline_memcpy_async(&b[threadIdx.y][threadIdx.x], &B[(start + threadIdx.y) * N + column], sizeof(float));
    __pipeline_commit();
}

__global__ void kernel(const float* A, const float* B, float* C, int K, int N) {
    __shared__ float a[2][TILE][TILE], b[2][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    fetch(a[0], b[0], A, B, row, column, 0, K, N);
    for (int tile = 0; tile < K / TILE; ++tile) {
        int now = tile % 2;
        if (tile + 1 < K / TILE) {
            fetch(a[!now], b[!now], A, B, row, column, (tile + 1) * TILE, K, N);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum = fmaf(a[now][threadIdx.y][k], b[now][k][threadIdx.x], sum);
        __syncthreads();
    }
    C[row * N + column] = sum;
}
