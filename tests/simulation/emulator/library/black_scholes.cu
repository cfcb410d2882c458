// Prices of options: logarithms, exponentials and the error function, many per thread.
__device__ float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }

__global__ void kernel(const float* stock, const float* strike, const float* years, float* call, float* put, int n, float rate,
                       float volatility) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float s = stock[i], x = strike[i], t = years[i], root = sqrtf(t);
        float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
        float d2 = d1 - volatility * root, discounted = x * expf(-rate * t);
        call[i] = s * normal(d1) - discounted * normal(d2);
        put[i] = discounted * normal(-d2) - s * normal(-d1);
    }
}
