// A whole program: C = A * B on the device, with sizes from the command line.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "npy.h"  // writeNpy("C.npy", C.data(), M, N)

__global__ void matMul(const float* A, const float* B, float* C, int M, int K, int N) {
    // TODO: one element of C for each thread; tiles in shared memory, if you like.
}

int main(int argc, char** argv) {
    int M = argc > 1 ? std::atoi(argv[1]) : 34;
    int K = argc > 2 ? std::atoi(argv[2]) : 50;
    int N = argc > 3 ? std::atoi(argv[3]) : 20;
    std::vector<float> A(M * K), B(K * N), C(M * N);

    // TODO: A[i][k] = (i + 2k) mod 5 - 2 and B[k][j] = (3k + j) mod 7 - 3, row by row.

    // TODO: memory on the device; copies of A and B; check what every call gives.

    // TODO: block and grid; launch; cudaGetLastError() and cudaDeviceSynchronize().

    // TODO: copy C back, free the memory, writeNpy.
    return 0;
}
