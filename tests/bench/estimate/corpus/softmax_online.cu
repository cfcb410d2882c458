// A row to a warp, which finds maximum and sum in one pass, with the fast exponential.

extern "C" __global__ void softmax_online(const float* in, float* out, int R, int C) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= R) return;
    const float* from = in + row * C;
    float most = -1e30f, sum = 0;
    for (int k = lane; k < C; k += 32) {
        float value = from[k], higher = fmaxf(most, value);
        sum = sum * __expf(most - higher) + __expf(value - higher);
        most = higher;
    }
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xffffffff, most, step),
              others = __shfl_xor_sync(0xffffffff, sum, step);
        float higher = fmaxf(most, other);
        sum = sum * __expf(most - higher) + others * __expf(other - higher);
        most = higher;
    }
    for (int k = lane; k < C; k += 32) out[row * C + k] = __expf(from[k] - most) / sum;
}
