// Value and place in one word of 64 bits, so that a single atomic maximum keeps them together.
__device__ unsigned long long packed(float value, unsigned place) {
    unsigned bits = __float_as_uint(value);
    bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    return (unsigned long long)bits << 32 | (0xffffffffu - place);
}

__global__ void kernel(const float* in, unsigned long long* best, int n) {
    __shared__ unsigned long long of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    unsigned long long own = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned long long candidate = packed(in[i], i);
        own = candidate > own ? candidate : own;
    }
    for (int by = 16; by; by /= 2) {
        unsigned long long other = __shfl_down_sync(0xffffffffu, own, by);
        own = max(own, other);
    }
    if (threadIdx.x % 32 == 0) atomicMax(&of_block, own);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(best, of_block);
}
