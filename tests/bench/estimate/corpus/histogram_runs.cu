// Many values to a thread, which counts runs of equal ones by itself.

extern "C" __global__ void histogram_runs(const int* in, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) bins[bin] = 0;
    __syncthreads();
    int last = -1;
    unsigned count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int value = in[i];
        if (value != last) {
            if (count) atomicAdd(&bins[last], count);
            last = value;
            count = 0;
        }
        ++count;
    }
    if (count) atomicAdd(&bins[last], count);
    __syncthreads();
    for (int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        if (bins[bin]) atomicAdd(&out[bin], bins[bin]);
    }
}
