// Softmax of rows, a row to a thread.

extern "C" __global__ void softmax_naive(const float* in, float* out, int R, int C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= R) return;
    const float* from = in + row * C;
    float most = from[0], sum = 0;
    for (int k = 1; k < C; ++k) most = fmaxf(most, from[k]);
    for (int k = 0; k < C; ++k) sum += expf(from[k] - most);
    for (int k = 0; k < C; ++k) out[row * C + k] = expf(from[k] - most) / sum;
}
