// A 5 by 5 filter over an image:
//
//   result[r][c] = sum of FILTER[i][j] * image[r + i - FILTER_RADIUS][c + j - FILTER_RADIUS]
//                  over i and j from 0 to FILTER_SIZE - 1
//
//   image and result have H rows and W columns, stored row by row; outside the image everything is 0.
//
// Keep the kernel's name and its parameter list. Each block computes TILE_SIZE by TILE_SIZE elements of result:
//
//   dim3 block(TILE_SIZE, TILE_SIZE);
//   dim3 grid((W + TILE_SIZE - 1) / TILE_SIZE, (H + TILE_SIZE - 1) / TILE_SIZE);
//
// and you may change TILE_SIZE (at most 32).

#include "filter.h"

#define TILE_SIZE 16

__global__ void convolve(const float* image, float* result, int H, int W) {
    // TODO: a shared tile. To compute 16 by 16 elements, how many elements of the image does the block need?

    // TODO: load it. There are more elements than threads, so some threads load more than one;
    //       what lies outside the image is 0.0f.

    // TODO: wait for the others.

    // TODO: add up FILTER_SIZE by FILTER_SIZE products.

    // TODO: store the sum, if there is such an element.
}
