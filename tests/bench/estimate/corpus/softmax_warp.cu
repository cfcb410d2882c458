// A row to a warp, which reads it three times.

extern "C" __global__ void softmax_warp(const float* in, float* out, int R, int C) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= R) return;
    const float* from = in + row * C;
    float most = -INFINITY, sum = 0;
    for (int k = lane; k < C; k += 32) most = fmaxf(most, from[k]);
    for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    for (int k = lane; k < C; k += 32) sum += expf(from[k] - most);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
    for (int k = lane; k < C; k += 32) out[row * C + k] = expf(from[k] - most) / sum;
}
