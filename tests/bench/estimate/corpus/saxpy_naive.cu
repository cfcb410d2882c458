// a · x + y, an element to a thread.

extern "C" __global__ void saxpy_naive(const float* x, const float* y, float* out, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
}
