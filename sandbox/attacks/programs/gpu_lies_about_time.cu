// Puts functions of its own in the place of CUDA's: those that tell the time between events, and that wait for them.
//
// After it: what it says about its speed decides nothing, and its result is what it is: none.
#include "attack.h"

extern "C" cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
    return *milliseconds = 1e-6f, cudaSuccess;
}
extern "C" cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

__global__ void works(float* out) { out[threadIdx.x] = 2.0f; }

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    float *out = nullptr, milliseconds = 0;
    cudaMalloc(&out, 1024 * sizeof *out);
    works<<<1, 1024>>>(out);
    cudaDeviceSynchronize();
    cudaEventElapsedTime(&milliseconds, nullptr, nullptr);
    printf("tried: be fast: %g ms, speedup 1000000\n", milliseconds);
    return 0;
}
