#include <cstdio>
#include <cstdlib>
#include <vector>

#include "npy.h"

#define TILE_WIDTH 16

__global__ void tiledMatMul(const float*, const float*, float*, int) {
    // left for later
}

static void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    std::exit(2);
}

int main(int argc, char** argv) {
    int width = argc > 1 ? std::atoi(argv[1]) : 34;
    size_t count = (size_t)width * width, bytes = count * sizeof(float);
    std::vector<float> A(count, 1.0f), B(count, 2.0f), C(count);

    float *d_A, *d_B, *d_C;
    check(cudaMalloc(&d_A, bytes), "memory for A");
    check(cudaMalloc(&d_B, bytes), "memory for B");
    check(cudaMalloc(&d_C, bytes), "memory for C");
    check(cudaMemcpy(d_A, A.data(), bytes, cudaMemcpyHostToDevice), "copying A");
    check(cudaMemcpy(d_B, B.data(), bytes, cudaMemcpyHostToDevice), "copying B");
    check(cudaMemset(d_C, 0xff, bytes), "marking C");  // NaN, wherever the kernel stores nothing

    int blocks = (width + TILE_WIDTH - 1) / TILE_WIDTH;
    dim3 block(TILE_WIDTH, TILE_WIDTH), grid(blocks, blocks);
    std::printf("Grid: %d x %d blocks of %d x %d threads\n", grid.x, grid.y, block.x, block.y);
    tiledMatMul<<<grid, block>>>(d_A, d_B, d_C, width);
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
    check(cudaMemcpy(C.data(), d_C, bytes, cudaMemcpyDeviceToHost), "copying C");

    for (int row = 0; row < width; ++row)
        for (int col = 0; col < width; ++col) {
            float sum = 0.0f;
            for (int k = 0; k < width; ++k) sum += A[row * width + k] * B[k * width + col];
            C[row * width + col] = sum;
        }

    float expected = 2.0f * width;
    bool correct = true;
    for (float element : C) correct = correct && element == expected;
    if (correct)
        std::printf("Result is correct: every element is %g\n", expected);
    else
        std::printf("Result is wrong: not every element is %g\n", expected);
    correct = writeNpy("C.npy", C.data(), width, width) && correct;
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    return correct ? 0 : 1;
}
