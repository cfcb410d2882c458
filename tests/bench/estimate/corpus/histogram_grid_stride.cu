// Many values to a thread, a grid apart, counted in shared memory first.

extern "C" __global__ void histogram_grid_stride(const int* in, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[in[i]], 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        if (bins[bin]) atomicAdd(&out[bin], bins[bin]);
    }
}
