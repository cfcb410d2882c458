// Neighbouring threads are 32 elements apart.

extern "C" __global__ void saxpy_strided(const float* x, const float* y, float* out, float a, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, rows = (n + 31) / 32;
    int i = t % rows * 32 + t / rows;
    if (t < rows * 32 && i < n) out[i] = a * x[i] + y[i];
}
