#include "filter.h"
#define TILE_SIZE 16
#define R FILTER_RADIUS
#define SIDE (TILE_SIZE + 2 * R)
__global__ void convolve(const float* image, float* result, int H, int W) {
    __shared__ float s[SIDE * SIDE];
    int tid = threadIdx.y * TILE_SIZE + threadIdx.x;
    int y0 = blockIdx.y * TILE_SIZE - R, x0 = blockIdx.x * TILE_SIZE - R;
    for (int e = tid; e < SIDE * SIDE; e += TILE_SIZE * TILE_SIZE) {
        int y = y0 + e / SIDE;
        int x = x0 + e % SIDE;
        float v = 0.0f;
        if (y >= 0 && y < H && x >= 0 && x < W) v = image[y * W + x];
        s[e] = v;
    }
    __syncthreads();
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    if (row >= H || col >= W) return;
    const float* corner = s + threadIdx.y * SIDE + threadIdx.x;
    int acc = 0;
#pragma unroll
    for (int i = 0; i < FILTER_SIZE; ++i)
        for (int j = 0; j < FILTER_SIZE; ++j)
            acc += FILTER[i][j] * corner[i * SIDE + j];
    result[row * W + col] = acc;
}
