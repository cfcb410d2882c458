#include "filter.h"

#define TILE_SIZE 16
#define HALO_SIZE (TILE_SIZE + 2 * FILTER_RADIUS)

__global__ void convolve(const float* image, float* result, int H, int W) {
    __shared__ float tile[HALO_SIZE][HALO_SIZE];

    if (blockIdx.y * TILE_SIZE + threadIdx.y >= H || blockIdx.x * TILE_SIZE + threadIdx.x >= W) return;

    const int top = blockIdx.y * TILE_SIZE - FILTER_RADIUS;
    const int left = blockIdx.x * TILE_SIZE - FILTER_RADIUS;
    for (int y = threadIdx.y; y < HALO_SIZE; y += TILE_SIZE) {
        for (int x = threadIdx.x; x < HALO_SIZE; x += TILE_SIZE) {
            const bool inside = top + y >= 0 && top + y < H && left + x >= 0 && left + x < W;
            tile[y][x] = inside ? image[(top + y) * W + left + x] : 0.0f;
        }
    }
    __syncthreads();

    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int column = blockIdx.x * TILE_SIZE + threadIdx.x;
    if (row < H && column < W) {
        float sum = 0.0f;
        for (int i = 0; i < FILTER_SIZE; ++i) {
            for (int j = 0; j < FILTER_SIZE; ++j) {
                sum += FILTER[i][j] * tile[threadIdx.y + i][threadIdx.x + j];
            }
        }
        result[row * W + column] = sum;
    }
}
