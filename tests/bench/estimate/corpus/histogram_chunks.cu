// Sixteen values side by side to a thread, counted in shared memory first.

extern "C" __global__ void histogram_chunks(const int* in, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    for (int i = start; i < min(n, start + 16); ++i) atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        if (bins[bin]) atomicAdd(&out[bin], bins[bin]);
    }
}
