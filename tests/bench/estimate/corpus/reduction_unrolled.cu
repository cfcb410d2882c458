// The first addition while loading, and the last warp without barriers.

extern "C" __global__ void reduction_unrolled(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    s[t] = (i < n ? in[i] : 0.0f) + (i + blockDim.x < n ? in[i + blockDim.x] : 0.0f);
    __syncthreads();
    for (int step = blockDim.x / 2; step > 32; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t < 32) {
        float sum = s[t] + s[t + 32];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
        s[t] = sum;
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
