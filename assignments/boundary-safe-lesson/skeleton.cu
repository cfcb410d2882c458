// Tiles at the edge: C = A * B for matrices whose width is no multiple of the tile.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "npy.h"  // writeNpy("C.npy", C, width, width)

#define TILE_WIDTH 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int width) {
    // TODO: one tile of A and one of B in shared memory.

    // TODO: for each tile along the inner dimension (how many are there?):
    //         load an element of each, or 0.0f outside the matrix; wait;
    //         add the products of this tile; wait.

    // TODO: store the sum, if there is such an element.
}

int main(int argc, char** argv) {
    int width = argc > 1 ? std::atoi(argv[1]) : 34;
    std::vector<float> A(width * width, 1.0f), B(width * width, 2.0f), C(width * width);

    // TODO: memory on the GPU, and copies of A and B.

    // TODO: block and grid; print them; launch; cudaGetLastError() and cudaDeviceSynchronize().

    // TODO: copy C back, compare every element with 2 * width, print the outcome.

    // TODO: writeNpy, free the memory, and return a status that says whether C is right.
    return 0;
}
