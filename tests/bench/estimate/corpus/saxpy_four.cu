// Four elements to a thread, a block apart.

extern "C" __global__ void saxpy_four(const float* x, const float* y, float* out, float a, int n) {
    int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    for (int k = 0; k < 4; ++k, i += blockDim.x) {
        if (i < n) out[i] = a * x[i] + y[i];
    }
}
