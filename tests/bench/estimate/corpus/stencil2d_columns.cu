// A thread walks down 16 rows and keeps three of them in registers.

extern "C" __global__ void stencil2d_columns(const float* in, float* out, int W, int H) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * 16;
    if (x >= W || y >= H) return;
    float above = y > 0 ? in[(y - 1) * W + x] : 0.0f, middle = in[y * W + x];
    int end = min(H, y + 16);
    for (; y < end; ++y) {
        float below = y + 1 < H ? in[(y + 1) * W + x] : 0.0f, value = middle;
        if (!(x == 0 || y == 0 || x == W - 1 || y == H - 1)) {
            value = 0.5f * middle + 0.125f * (in[y * W + x - 1] + in[y * W + x + 1] + above + below);
        }
        out[y * W + x] = value;
        above = middle;
        middle = below;
    }
}
