// A sum per block: two loads per thread, a sequential-addressing tree, and an unrolled last warp.
#define THREADS 256
__global__ void __launch_bounds__(THREADS) kernel(const int* in, int* out, int n) {
    __shared__ int sums[THREADS];
    unsigned t = threadIdx.x, i = blockIdx.x * (2 * THREADS) + t;
    int mine = i < n ? in[i] : 0;
    if (i + THREADS < n) mine += in[i + THREADS];
    sums[t] = mine;
    __syncthreads();
    for (unsigned stride = THREADS / 2; stride > 32; stride >>= 1) {
        if (t < stride) sums[t] = mine = mine + sums[t + stride];
        __syncthreads();
    }
    if (t < 32) {
        mine += sums[t + 32];
#pragma unroll
        for (int offset = 16; offset > 0; offset >>= 1) mine += __shfl_down_sync(0xffffffffu, mine, offset);
        if (t == 0) out[blockIdx.x] = mine;
    }
}
