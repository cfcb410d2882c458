// A value to a thread, counted in shared memory first.

extern "C" __global__ void histogram_shared(const int* in, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        if (bins[bin]) atomicAdd(&out[bin], bins[bin]);
    }
}
