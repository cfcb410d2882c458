// Writes to addresses all over the device, which stops its context, and goes on calling CUDA.
//
// After it: only its own context was lost, and the device serves the next submission.
#include "attack.h"

__global__ void writes(unsigned long step) {
    *reinterpret_cast<volatile int*>((blockIdx.x * 1024ul + threadIdx.x) * step) = 0xbad;
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    for (unsigned long step : {4ul, 1ul << 20, 1ul << 30}) {
        writes<<<64, 1024>>>(step);
        const cudaError_t error = cudaDeviceSynchronize();
        printf("tried: write everywhere: %s\n", cudaGetErrorString(error));
        if (error == cudaSuccess) puts("reached: memory that is not its own");
        cudaDeviceReset();
    }
    return 0;
}
