// A row to a warp, by vectors of four.

extern "C" __global__ void matvec_warp_vector(const float* A, const float* x, float* y, int M, int N) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= M) return;
    const float4* from = (const float4*)(A + row * N);
    float sum = 0;
    for (int k = lane; k < N / 4; k += 32) {
        float4 a = from[k], b = ((const float4*)x)[k];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) y[row] = sum;
}
