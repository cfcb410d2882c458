// Sorts a block bit by bit: a stable split by ballots and a scan over the warps.
#define N 128
__global__ void kernel(const unsigned* in, unsigned* out, int bits) {
    __shared__ unsigned keys[N];
    __shared__ int zeros_before[N / 32 + 1];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    unsigned key = in[blockIdx.x * N + t];
    for (int bit = 0; bit < bits; ++bit) {
        bool one = key >> bit & 1;
        unsigned zeros = __ballot_sync(0xffffffffu, !one);
        if (lane == 0) zeros_before[warp + 1] = __popc(zeros);
        if (t == 0) zeros_before[0] = 0;
        __syncthreads();
        if (t == 0) {
            for (int w = 1; w <= N / 32; ++w) zeros_before[w] += zeros_before[w - 1];
        }
        __syncthreads();
        int rank = zeros_before[warp] + __popc(zeros & ((1u << lane) - 1));
        keys[one ? zeros_before[N / 32] + t - rank : rank] = key;
        __syncthreads();
        key = keys[t];
    }
    out[blockIdx.x * N + t] = key;
}
