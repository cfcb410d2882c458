// The same with the mask in constant memory (the values of the array are those).

__constant__ float weights[25] = {0.015625f, 0.125f,    0.234375f, 0.34375f,  0.0625f,   0.171875f, 0.28125f,
                                  0.390625f, 0.109375f, 0.21875f,  0.328125f, 0.046875f, 0.15625f,  0.265625f,
                                  0.375f,    0.09375f,  0.203125f, 0.3125f,   0.03125f,  0.140625f, 0.25f,
                                  0.359375f, 0.078125f, 0.1875f,   0.296875f};

extern "C" __global__ void conv2d_constant(const float* in, const float* mask, float* out, int W, int H) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0;
    for (int j = 0; j < 5; ++j) {
        for (int i = 0; i < 5; ++i) {
            int u = x + i - 2, v = y + j - 2;
            if (u >= 0 && v >= 0 && u < W && v < H) sum += weights[j * 5 + i] * in[v * W + u];
        }
    }
    out[y * W + x] = sum;
}
