#include "filter.h"

#define TILE_SIZE 16
#define HALO_SIZE (TILE_SIZE + 2 * FILTER_RADIUS)

__device__ float pixel(const float* image, int row, int column, int H, int W) {
    return row >= 0 && row < H && column >= 0 && column < W ? image[row * W + column] : 0.0f;
}

__global__ void convolve(const float* image, float* result, int H, int W) {
    __shared__ float tile[HALO_SIZE][HALO_SIZE];

    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int column = blockIdx.x * TILE_SIZE + threadIdx.x;
    const int y = threadIdx.y + FILTER_RADIUS;
    const int x = threadIdx.x + FILTER_RADIUS;
    tile[y][x] = pixel(image, row, column, H, W);
    if (threadIdx.y < FILTER_RADIUS) {
        tile[threadIdx.y][x] = pixel(image, row - FILTER_RADIUS, column, H, W);
        tile[y + TILE_SIZE][x] = pixel(image, row + TILE_SIZE, column, H, W);
    }
    if (threadIdx.x < FILTER_RADIUS) {
        tile[y][threadIdx.x] = pixel(image, row, column - FILTER_RADIUS, H, W);
        tile[y][x + TILE_SIZE] = pixel(image, row, column + TILE_SIZE, H, W);
    }
    __syncthreads();

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
