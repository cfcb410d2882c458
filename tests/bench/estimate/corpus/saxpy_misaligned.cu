// Every thread's element is one further than a line's beginning.

extern "C" __global__ void saxpy_misaligned(const float* x, const float* y, float* out, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i < n) out[i] = a * x[i] + y[i];
    if (i == 1) out[0] = a * x[0] + y[0];
}
