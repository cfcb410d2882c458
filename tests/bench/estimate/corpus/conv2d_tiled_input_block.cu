// A block of 20 × 20 threads loads its tile; the inner 16 × 16 compute.

extern "C" __global__ void conv2d_tiled_input_block(const float* in, const float* mask, float* out, int W,
                                                    int H) {
    __shared__ float s[20][20];
    int tx = threadIdx.x, ty = threadIdx.y, x = (int)blockIdx.x * 16 + tx - 2,
        y = (int)blockIdx.y * 16 + ty - 2;
    s[ty][tx] = x >= 0 && y >= 0 && x < W && y < H ? in[y * W + x] : 0.0f;
    __syncthreads();
    if (tx < 2 || ty < 2 || tx > 17 || ty > 17 || x >= W || y >= H) return;
    float sum = 0;
    for (int j = 0; j < 5; ++j) {
        for (int i = 0; i < 5; ++i) sum += mask[j * 5 + i] * s[ty + j - 2][tx + i - 2];
    }
    out[y * W + x] = sum;
}
