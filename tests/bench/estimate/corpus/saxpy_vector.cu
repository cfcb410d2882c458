// The same by vectors of four (of a multiple of four).

extern "C" __global__ void saxpy_vector(const float* x, const float* y, float* out, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    float4 u = ((const float4*)x)[i], v = ((const float4*)y)[i];
    ((float4*)out)[i] = make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
}
