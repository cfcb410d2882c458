// Takes all memory of the device, and ends without giving it back.
//
// After it: the device has as much free memory as before.
#include "attack.h"

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    size_t taken = 0;
    for (size_t piece = size_t(1) << 34; piece >= 1 << 20; piece /= 2)
        for (void* memory; cudaMalloc(&memory, piece) == cudaSuccess && cudaMemset(memory, 1, piece) == cudaSuccess;)
            taken += piece;
    printf("tried: take the device's memory: %zu MiB\n", taken >> 20);
    cudaDeviceSynchronize();
    _exit(0);
}
