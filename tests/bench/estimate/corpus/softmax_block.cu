// A row to a block, which adds in shared memory.

extern "C" __global__ void softmax_block(const float* in, float* out, int R, int C) {
    __shared__ float s[256];
    int t = threadIdx.x, row = blockIdx.x;
    const float* from = in + row * C;
    float most = -INFINITY, sum = 0;
    for (int k = t; k < C; k += 256) most = fmaxf(most, from[k]);
    s[t] = most;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] = fmaxf(s[t], s[t + step]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    for (int k = t; k < C; k += 256) sum += expf(from[k] - most);
    s[t] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    float scale = 1 / s[0];
    for (int k = t; k < C; k += 256) out[row * C + k] = expf(from[k] - most) * scale;
}
