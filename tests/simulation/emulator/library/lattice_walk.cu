// Random walks with a 64-bit xorshift: shifts, rotations, modulo, and 64-bit atomics on a shared lattice.
#define SIDE 16
__device__ unsigned long long next(unsigned long long& s) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return s * 0x2545f4914f6cdd1dull;
}

__global__ void kernel(const unsigned long long* seeds, unsigned long long* visits, int steps) {
    __shared__ unsigned long long lattice[SIDE * SIDE];
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) lattice[i] = 0;
    __syncthreads();
    unsigned long long state = seeds[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned x = SIDE / 2, y = SIDE / 2;
    for (int step = 0; step < steps; ++step) {
        switch (next(state) >> 62) {
            case 0: x = (x + 1) % SIDE; break;
            case 1: x = (x + SIDE - 1) % SIDE; break;
            case 2: y = (y + 1) % SIDE; break;
            default: y = (y + SIDE - 1) % SIDE;
        }
        atomicAdd(&lattice[y * SIDE + x], 1ull << (step % 3 * 20));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < SIDE * SIDE; i += blockDim.x) {
        if (lattice[i]) atomicAdd(&visits[i], lattice[i]);
    }
}
