// style: the device's standard library: array, optional, mathematics
#include <cuda/std/array>
#include <cuda/std/cmath>
#include <cuda/std/optional>
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    cuda::std::array<int, 2> place{row, col};
    cuda::std::optional<float> result;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        const int depth = static_cast<int>(cuda::std::fmin(TILE_SIZE, K - t * TILE_SIZE));
        for (int k = 0; k < depth; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (place[0] < M && place[1] < N) result = sum;
    if (result) C[place[0] * N + place[1]] = *result;
}
