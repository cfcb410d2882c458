// C = A + B in chunks: each goes up, through the kernel and back in one of two streams.
#include <cstdio>
#include <cstdlib>

#include "npy.h"  // writeNpy("C.npy", C, N)

#define CHUNKS 4
#define STREAMS 2

__global__ void add(const float* A, const float* B, float* C, int n) {
    // TODO: one element for each thread, if there is one.
}

int main(int argc, char** argv) {
    int N = argc > 1 ? std::atoi(argv[1]) : 1000;

    // TODO: pinned memory on the host (cudaMallocHost), memory on the device; A[i] = i, B[i] = 1000.

    // TODO: two streams.

    // TODO: for each chunk: copy its parts of A and B, launch, copy its part of C back, all in one stream.

    // TODO: wait for what is needed; writeNpy; destroy the streams and free the memory.
    return 0;
}
