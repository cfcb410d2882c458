// Half of the block fills one buffer while the other half empties the other: barriers that count 128 threads.
__global__ void kernel(const int* in, int* out, int rounds) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int round = 0; round < rounds; ++round) {
            asm volatile("bar.sync %0, 128;" ::"r"(3 + round % 2) : "memory");
            buffer[round % 2][t] = in[round * 64 + t] * 3;
            asm volatile("bar.arrive %0, 128;" ::"r"(1 + round % 2) : "memory");
        }
    } else {
        asm volatile("bar.arrive 3, 128;" ::: "memory");
        asm volatile("bar.arrive 4, 128;" ::: "memory");
        for (int round = 0; round < rounds; ++round) {
            asm volatile("bar.sync %0, 128;" ::"r"(1 + round % 2) : "memory");
            out[round * 64 + t] = buffer[round % 2][63 - t];
            if (round + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + round % 2) : "memory");
        }
    }
}
