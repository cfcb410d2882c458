// A row to a warp, which reads it three times.

extern "C" __global__ void layernorm_warp(const float* in, float* out, int R, int C) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= R) return;
    const float* from = in + row * C;
    float sum = 0, squares = 0;
    for (int k = lane; k < C; k += 32) sum += from[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    float mean = sum / C;
    for (int k = lane; k < C; k += 32) squares += (from[k] - mean) * (from[k] - mean);
    for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(0xffffffff, squares, step);
    float scale = rsqrtf(squares / C + 1e-5f);
    for (int k = lane; k < C; k += 32) out[row * C + k] = (from[k] - mean) * scale;
}
