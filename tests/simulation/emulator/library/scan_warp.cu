// An inclusive prefix sum of each warp with shuffles, and of the block through its warps' totals.
__global__ void kernel(const unsigned* in, unsigned* out) {
    __shared__ unsigned totals[32];
    unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned value = in[i];
    for (unsigned by = 1; by < 32; by <<= 1) {
        unsigned other = __shfl_up_sync(0xffffffffu, value, by);
        if (lane >= by) {
            value += other;
        }
    }
    if (lane == 31) {
        totals[warp] = value;
    }
    __syncthreads();
    for (unsigned before = 0; before < warp; ++before) {
        value += totals[before];
    }
    out[i] = value;
}
