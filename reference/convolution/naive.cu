// Staff only. The baseline: every thread reads its 25 elements of the image from global memory.

#include "filter.h"

#define TILE_SIZE 16

__global__ void convolve(const float* image, float* result, int H, int W) {
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int column = blockIdx.x * TILE_SIZE + threadIdx.x;
    if (row >= H || column >= W) return;

    float sum = 0.0f;
    for (int i = 0; i < FILTER_SIZE; ++i) {
        for (int j = 0; j < FILTER_SIZE; ++j) {
            const int y = row + i - FILTER_RADIUS;
            const int x = column + j - FILTER_RADIUS;
            if (y >= 0 && y < H && x >= 0 && x < W) {
                sum += FILTER[i][j] * image[y * W + x];
            }
        }
    }
    result[row * W + column] = sum;
}
