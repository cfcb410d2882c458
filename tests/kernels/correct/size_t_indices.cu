// style: size_t everywhere
#include <cstddef>
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const size_t m = M, n = N, kk = K;
    const size_t row = (size_t)blockIdx.y * TILE_SIZE + threadIdx.y;
    const size_t col = (size_t)blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (size_t t = 0; t < (kk + TILE_SIZE - 1) / TILE_SIZE; t++) {
        const size_t kx = t * TILE_SIZE + threadIdx.x;
        const size_t ky = t * TILE_SIZE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < m && kx < kk) ? A[row * kk + kx] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (ky < kk && col < n) ? B[ky * n + col] : 0.0f;
        __syncthreads();
        for (size_t k = 0; k < TILE_SIZE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}
