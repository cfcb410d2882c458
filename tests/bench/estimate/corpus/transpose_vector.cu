// A transpose of 4 × 4 elements a thread in registers, with vector loads and stores.

extern "C" __global__ void transpose_vector(const float* in, float* out, int W, int H) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (x >= W || y >= H) return;
    float4 a = *(const float4*)(in + y * W + x), b = *(const float4*)(in + (y + 1) * W + x);
    float4 c = *(const float4*)(in + (y + 2) * W + x), d = *(const float4*)(in + (y + 3) * W + x);
    *(float4*)(out + x * H + y) = make_float4(a.x, b.x, c.x, d.x);
    *(float4*)(out + (x + 1) * H + y) = make_float4(a.y, b.y, c.y, d.y);
    *(float4*)(out + (x + 2) * H + y) = make_float4(a.z, b.z, c.z, d.z);
    *(float4*)(out + (x + 3) * H + y) = make_float4(a.w, b.w, c.w, d.w);
}
