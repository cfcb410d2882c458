// C = A + B in chunks.
#include <cstdio>
#include <cstdlib>

#include "npy.h"

#define CHUNKS 4
#define STREAMS 2
#define THREADS 128

#define CHECK(call)                                                                               \
    do {                                                                                          \
        cudaError_t status = (call);                                                              \
        if (status != cudaSuccess) {                                                              \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(status));          \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

__global__ void add(const float* A, const float* B, float* C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}

int main(int argc, char** argv) {
    int N = argc > 1 ? std::atoi(argv[1]) : 1000;
    size_t bytes = N * sizeof(float);
    float *A, *B, *C, *dA, *dB, *dC;
    CHECK(cudaMallocHost(&A, bytes));
    CHECK(cudaMallocHost(&B, bytes));
    CHECK(cudaMallocHost(&C, bytes));
    CHECK(cudaMalloc(&dA, bytes));
    CHECK(cudaMalloc(&dB, bytes));
    CHECK(cudaMalloc(&dC, bytes));
    for (int i = 0; i < N; ++i) {
        A[i] = i;
        B[i] = 1000;
    }

    cudaStream_t streams[STREAMS];
    for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));

    int chunk = (N + CHUNKS - 1) / CHUNKS;
    for (int c = 0; c < CHUNKS; ++c) {
        int first = c * chunk;
        int n = N - first < chunk ? N - first : chunk;
        if (n <= 0) break;
        cudaStream_t stream = streams[c % STREAMS];
        CHECK(cudaMemcpyAsync(dA + first, A + first, n * sizeof(float), cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(dB + first, B + first, n * sizeof(float), cudaMemcpyHostToDevice, stream));
        add<<<(n + THREADS - 1) / THREADS, THREADS, 0, stream>>>(dA + first, dB + first, dC + first, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(C + first, dC + first, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    }

    CHECK(cudaStreamSynchronize(streams[0]));
    bool written = writeNpy("C.npy", C, N);

    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(dA));
    CHECK(cudaFree(dB));
    CHECK(cudaFree(dC));
    CHECK(cudaFreeHost(A));
    CHECK(cudaFreeHost(B));
    CHECK(cudaFreeHost(C));
    return written ? 0 : 1;
}
