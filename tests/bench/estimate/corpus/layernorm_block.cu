// A row to a block of 256, which keeps it in shared memory (1024 elements at most).

__device__ float added(float value, float* s, int t) {
    s[t] = value;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    float sum = s[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void layernorm_block(const float* in, float* out, int R, int C) {
    __shared__ float s[256];
    __shared__ float kept[1024];
    int t = threadIdx.x, row = blockIdx.x;
    float sum = 0, squares = 0;
    for (int k = t; k < C; k += 256) {
        kept[k] = in[row * C + k];
        sum += kept[k];
    }
    float mean = added(sum, s, t) / C;
    for (int k = t; k < C; k += 256) squares += (kept[k] - mean) * (kept[k] - mean);
    float scale = rsqrtf(added(squares, s, t) / C + 1e-5f);
    for (int k = t; k < C; k += 256) out[row * C + k] = (kept[k] - mean) * scale;
}
