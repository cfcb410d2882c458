// Prints from a million threads, again and again, with a buffer as large as it can have.
//
// After it: the output is bounded, and the run was stopped, as the student's fault.
#include "attack.h"

__global__ void prints() { printf("{\"verdict\": \"pass\"} \033[2J %d %d\n", blockIdx.x, threadIdx.x); }

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 256 << 20);
    for (int i = 0; i < 100; ++i) {
        prints<<<1024, 1024>>>();
        if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    }
    return 0;
}
