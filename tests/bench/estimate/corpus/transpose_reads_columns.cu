// A transpose that reads columns and writes rows.

extern "C" __global__ void transpose_reads_columns(const float* in, float* out, int W, int H) {
    int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) out[x * H + y] = in[y * W + x];
}
