// Counts in shared memory of each warp's own, eight in a block.

extern "C" __global__ void histogram_warps(const int* in, unsigned* out, int n) {
    __shared__ unsigned bins[2048];
    for (int bin = threadIdx.x; bin < 2048; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    unsigned* own = bins + threadIdx.x / 32 * 256;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&own[in[i]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        unsigned sum = 0;
        for (int copy = 0; copy < 8; ++copy) sum += bins[copy * 256 + bin];
        if (sum) atomicAdd(&out[bin], sum);
    }
}
