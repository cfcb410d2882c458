// A kernel with many forms of operands, whose machine code is kept beside it for each architecture.
__constant__ float scale[4];

extern "C" __global__ void forms(const float* in, const double* wide, float* out, int n) {
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : -1.0f;
    tile[threadIdx.x] = value;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < n; ++k) value = fabsf(value) / (tile[(threadIdx.x + k) & 63] - scale[k & 3]);
    if (i < n) out[i] = value + float(wide[i] * 0.5 - 3.0);
}
