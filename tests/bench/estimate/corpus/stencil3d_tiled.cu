// The same with the middle plane's neighbours in shared memory.

extern "C" __global__ void stencil3d_tiled(const float* in, float* out, int W, int H, int D) {
    __shared__ float s[10][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int begin = blockIdx.z * 32, end = min(D, begin + 32), plane = W * H;
    int i = begin * plane + y * W + x;
    bool inside = x < W && y < H, edge = x == 0 || y == 0 || x == W - 1 || y == H - 1;
    float before = inside && begin > 0 ? in[i - plane] : 0.0f, now = inside ? in[i] : 0.0f;
    for (int z = begin; z < end; ++z, i += plane) {
        float after = inside && z + 1 < D ? in[i + plane] : 0.0f;
        s[ty][tx] = now;
        if (inside && tx == 1 && x > 0) s[ty][0] = in[i - 1];
        if (inside && tx == 32 && x + 1 < W) s[ty][33] = in[i + 1];
        if (inside && ty == 1 && y > 0) s[0][tx] = in[i - W];
        if (inside && ty == 8 && y + 1 < H) s[9][tx] = in[i + W];
        __syncthreads();
        float value = now;
        if (inside && !edge && z > 0 && z < D - 1) {
            value = 0.4f * now +
                    0.1f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + before + after);
        }
        if (inside) out[i] = value;
        __syncthreads();
        before = now;
        now = after;
    }
}
