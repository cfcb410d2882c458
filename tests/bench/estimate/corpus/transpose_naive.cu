// A transpose that reads rows and writes columns.

extern "C" __global__ void transpose_naive(const float* in, float* out, int W, int H) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) out[x * H + y] = in[y * W + x];
}
