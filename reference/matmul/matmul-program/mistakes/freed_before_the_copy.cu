// A whole program: C = A * B on the device, with sizes from the command line.
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

__global__ void matMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < K; first += TILE) {
        int a = first + threadIdx.x, b = first + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
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

    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matMul<<<grid, block>>>(dA, dB, dC, M, K, N);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    CHECK(cudaFree(dC));
    cudaMemcpy(C.data(), dC, bytesC, cudaMemcpyDeviceToHost);
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    return writeNpy("C.npy", C.data(), M, N) ? 0 : 1;
}
