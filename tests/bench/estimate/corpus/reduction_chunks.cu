// Each thread adds 32 elements that lie side by side, so that neighbours are far apart.

extern "C" __global__ void reduction_chunks(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0;
    int start = (blockIdx.x * blockDim.x + t) * 32;
    for (int i = start; i < min(n, start + 32); ++i) sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
