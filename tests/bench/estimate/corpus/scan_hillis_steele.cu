// An inclusive scan of each block's elements, in place with two barriers a step.

extern "C" __global__ void scan_hillis_steele(const float* in, float* out, int n) {
    __shared__ float s[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    s[t] = in[i];
    for (int step = 1; step < 512; step *= 2) {
        __syncthreads();
        float before = t >= step ? s[t - step] : 0.0f;
        __syncthreads();
        s[t] += before;
    }
    out[i] = s[t];
}
