// The same with four sums in each thread.

extern "C" __global__ void reduction_grid_stride_4(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sums[4] = {};
    int width = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + t;
    for (; i + 3 * width < n; i += 4 * width) {
        for (int k = 0; k < 4; ++k) sums[k] += in[i + k * width];
    }
    for (; i < n; i += width) sums[0] += in[i];
    s[t] = sums[0] + sums[1] + sums[2] + sums[3];
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
