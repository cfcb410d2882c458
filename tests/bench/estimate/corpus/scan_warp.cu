// A scan by shuffles in each warp, then of the warps' sums.

__device__ float scanned(float value, int lane) {
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step) value += before;
    }
    return value;
}

extern "C" __global__ void scan_warp(const float* in, float* out, int n) {
    __shared__ float sums[16];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 512 + t;
    float value = scanned(in[i], lane);
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        float total = scanned(lane < 16 ? sums[lane] : 0.0f, lane);
        if (lane < 16) sums[lane] = total;
    }
    __syncthreads();
    out[i] = value + (warp > 0 ? sums[warp - 1] : 0.0f);
}
