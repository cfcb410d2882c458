// y = alpha * x + y with a loop over the grid: each thread does several elements.
__global__ void kernel(float alpha, const float* x, float* y, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        y[i] = alpha * x[i] + y[i];
    }
}
