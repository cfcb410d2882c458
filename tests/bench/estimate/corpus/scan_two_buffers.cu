// The same in two buffers, with one barrier a step.

extern "C" __global__ void scan_two_buffers(const float* in, float* out, int n) {
    __shared__ float s[2][512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t, now = 0;
    s[0][t] = in[i];
    __syncthreads();
    for (int step = 1; step < 512; step *= 2) {
        s[1 - now][t] = s[now][t] + (t >= step ? s[now][t - step] : 0.0f);
        now = 1 - now;
        __syncthreads();
    }
    out[i] = s[now][t];
}
