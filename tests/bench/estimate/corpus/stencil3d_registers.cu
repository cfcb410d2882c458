// A thread walks through planes and keeps three of its points in registers.

extern "C" __global__ void stencil3d_registers(const float* in, float* out, int W, int H, int D) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int begin = blockIdx.z * 32, end = min(D, begin + 32), plane = W * H;
    int i = begin * plane + y * W + x;
    float before = begin > 0 ? in[i - plane] : 0.0f, now = in[i];
    for (int z = begin; z < end; ++z, i += plane) {
        float after = z + 1 < D ? in[i + plane] : 0.0f, value = now;
        if (!(x == 0 || y == 0 || z == 0 || x == W - 1 || y == H - 1 || z == D - 1))
            value = 0.4f * now + 0.1f * (in[i - 1] + in[i + 1] + in[i - W] + in[i + W] + before + after);
        out[i] = value;
        before = now;
        now = after;
    }
}
