// Points drawn by a linear congruential generator per thread; how many fall into a quarter of a circle.
__device__ float uniform(unsigned& state) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) * (1.0f / 16777216.0f);
}

__global__ void kernel(unsigned long long* hits, unsigned seed, int draws) {
    unsigned state = seed + 747796405u * (blockIdx.x * blockDim.x + threadIdx.x);
    unsigned inside = 0;
    for (int i = 0; i < draws; ++i) {
        float x = uniform(state), y = uniform(state);
        inside += __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) < 1.0f;
    }
    inside = __reduce_add_sync(0xffffffffu, inside);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, (unsigned long long)inside);
}
