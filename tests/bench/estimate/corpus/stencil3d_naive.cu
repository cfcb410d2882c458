// Seven points of a volume from global memory.

extern "C" __global__ void stencil3d_naive(const float* in, float* out, int W, int H, int D) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= W || y >= H || z >= D) return;
    int i = (z * H + y) * W + x;
    out[i] = x == 0 || y == 0 || z == 0 || x == W - 1 || y == H - 1 || z == D - 1
                 ? in[i]
                 : 0.4f * in[i] +
                       0.1f * (in[i - 1] + in[i + 1] + in[i - W] + in[i + W] + in[i - W * H] + in[i + W * H]);
}
