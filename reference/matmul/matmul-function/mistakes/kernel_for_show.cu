// The kernel runs, and the host computes the product all the same.
#include <cstdio>
#include <cstdlib>

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
    if (row < M && col < N) C[row * N + col] = 0.0f * sum;
}

void solve(const float* A, const float* B, float* C, int M, int K, int N) {
    size_t bytesA = sizeof(float) * M * K, bytesB = sizeof(float) * K * N, bytesC = sizeof(float) * M * N;
    float *dA, *dB, *dC;
    CHECK(cudaMalloc(&dA, bytesA));
    CHECK(cudaMalloc(&dB, bytesB));
    CHECK(cudaMalloc(&dC, bytesC));
    CHECK(cudaMemcpy(dA, A, bytesA, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dB, B, bytesB, cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE), grid((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matMul<<<grid, block>>>(dA, dB, dC, M, K, N);
    CHECK(cudaGetLastError());

    CHECK(cudaMemcpy(C, dC, bytesC, cudaMemcpyDeviceToHost));
    for (int i = 0; i < M * N; ++i) {
        C[i] = 0.0f;
        for (int k = 0; k < K; ++k) C[i] += A[i / N * K + k] * B[k * N + i % N];
    }
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
}
