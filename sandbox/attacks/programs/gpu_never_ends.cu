// Runs a kernel that never ends, and never asks for its result.
//
// After it: the run was ended from outside, and the device serves the next submission.
#include "attack.h"

__global__ void spins(volatile int* flag) {
    while (*flag == 0) continue;
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    int* flag = nullptr;
    cudaMalloc(&flag, sizeof *flag);
    cudaMemset(flag, 0, sizeof *flag);
    spins<<<1024, 1024>>>(flag);
    printf("tried: keep the device busy: %s\n", cudaGetErrorString(cudaGetLastError()));
    for (;;) pause();
}
