// Tiles of 16 × 16 with their halo in shared memory, the mask in global memory.

extern "C" __global__ void conv2d_tiled(const float* in, const float* mask, float* out, int W, int H) {
    __shared__ float s[20][20];
    int tx = threadIdx.x, ty = threadIdx.y, left = (int)blockIdx.x * 16 - 2, top = (int)blockIdx.y * 16 - 2;
    for (int i = ty * 16 + tx; i < 400; i += 256) {
        int u = left + i % 20, v = top + i / 20;
        s[i / 20][i % 20] = u >= 0 && v >= 0 && u < W && v < H ? in[v * W + u] : 0.0f;
    }
    __syncthreads();
    int x = left + 2 + tx, y = top + 2 + ty;
    if (x >= W || y >= H) return;
    float sum = 0;
    for (int j = 0; j < 5; ++j) {
        for (int i = 0; i < 5; ++i) sum += mask[j * 5 + i] * s[ty + j][tx + i];
    }
    out[y * W + x] = sum;
}
