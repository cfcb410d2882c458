#include "filter.h"

#define TILE_SIZE 16

__global__ void convolve(const float* image, float* result, int H, int W) {
}
