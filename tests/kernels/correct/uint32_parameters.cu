// style: uint32_t parameters instead of int
#include <cstdint>
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, uint32_t M, uint32_t K, uint32_t N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    uint32_t row = blockIdx.y * TILE_SIZE + threadIdx.y;
    uint32_t col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (uint32_t k0 = 0u; k0 < K; k0 += TILE_SIZE) {
        uint32_t kx = k0 + threadIdx.x, ky = k0 + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (uint32_t k = 0u; k < TILE_SIZE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
