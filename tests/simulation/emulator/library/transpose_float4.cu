// Each thread turns a square of 4 x 4 elements around in its registers, with vector loads and stores.
__global__ void kernel(const float4* __restrict__ in, float4* __restrict__ out, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (4 * x >= columns || 4 * y >= rows) return;
    float4 a = in[(4 * y + 0) * (columns / 4) + x];
    float4 b = in[(4 * y + 1) * (columns / 4) + x];
    float4 c = in[(4 * y + 2) * (columns / 4) + x];
    float4 d = in[(4 * y + 3) * (columns / 4) + x];
    out[(4 * x + 0) * (rows / 4) + y] = make_float4(a.x, b.x, c.x, d.x);
    out[(4 * x + 1) * (rows / 4) + y] = make_float4(a.y, b.y, c.y, d.y);
    out[(4 * x + 2) * (rows / 4) + y] = make_float4(a.z, b.z, c.z, d.z);
    out[(4 * x + 3) * (rows / 4) + y] = make_float4(a.w, b.w, c.w, d.w);
}
