// A grid-stride sum with vector loads (of a multiple of four).

extern "C" __global__ void reduction_vector(const float* in, float* out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n / 4; i += gridDim.x * blockDim.x) {
        float4 four = ((const float4*)in)[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
    s[t] = sum;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}
