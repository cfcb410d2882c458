// The same with the adding threads side by side, so that banks conflict.

extern "C" __global__ void reduction_strided(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        int at = 2 * step * t;
        if (at < blockDim.x) s[at] += s[at + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
