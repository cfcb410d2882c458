// The same, but odd and even threads take different branches.

extern "C" __global__ void elementwise_parted(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    if (i % 2) {
        out[i] = expf(-x * x) * sinf(x) / sqrtf(1 + x);
    } else {
        out[i] = sinf(x) / (sqrtf(1 + x) * expf(x * x));
    }
}
