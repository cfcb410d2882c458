// Looks through fresh device memory for what an earlier run left there, and then leaves a pattern for the next.
//
// After it: it found nothing, also when it ran twice: the driver clears memory that changes hands.
#include "attack.h"

__global__ void searches(unsigned long* memory, size_t count, unsigned long* found, unsigned long* other) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
        if (memory[i] == 0x5ec2e7a77ac4ul) atomicAdd(reinterpret_cast<unsigned long long*>(found), 1ull);
        else if (memory[i]) atomicAdd(reinterpret_cast<unsigned long long*>(other), 1ull);
        memory[i] = 0x5ec2e7a77ac4ul;
    }
}

int main(int argc, char** argv) {
    attack::begin(argc, argv);
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    const size_t bytes = free / 10 * 9;
    unsigned long *memory = nullptr, *counts = nullptr, host[2] = {};
    cudaMalloc(&counts, sizeof host);
    cudaMemset(counts, 0, sizeof host);
    if (cudaMalloc(&memory, bytes) != cudaSuccess) return 2;
    searches<<<4096, 256>>>(memory, bytes / 8, counts, counts + 1);
    if (cudaMemcpy(host, counts, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
    printf("tried: search %zu bytes: %lu words of an earlier run, %lu of others\n", bytes, host[0], host[1]);
    if (host[0]) puts("reached: memory of an earlier run");
    if (host[1]) puts("reached: memory that somebody left");
    return !attack::write_result();
}
