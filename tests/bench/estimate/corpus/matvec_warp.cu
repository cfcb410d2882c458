// A row to a warp.

extern "C" __global__ void matvec_warp(const float* A, const float* x, float* y, int M, int N) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= M) return;
    float sum = 0;
    for (int k = lane; k < N; k += 32) sum += A[row * N + k] * x[k];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) y[row] = sum;
}
