// A grid-stride sum, then shuffles in each warp, then in the first.

extern "C" __global__ void reduction_shuffle(const float* in, float* out, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        float total = t < blockDim.x / 32 ? s[t] : 0.0f;
        for (int step = 16; step > 0; step /= 2) total += __shfl_down_sync(0xffffffff, total, step);
        if (t == 0) out[blockIdx.x] = total;
    }
}
