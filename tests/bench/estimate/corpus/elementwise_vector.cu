// The same by vectors of four.

__device__ float of(float x) { return expf(-x * x) * sinf(x) / sqrtf(1 + x); }

extern "C" __global__ void elementwise_vector(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 x = ((const float4*)in)[i];
    ((float4*)out)[i] = make_float4(of(x.x), of(x.y), of(x.z), of(x.w));
}
