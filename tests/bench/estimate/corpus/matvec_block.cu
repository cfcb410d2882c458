// A row to a block, which adds in shared memory.

extern "C" __global__ void matvec_block(const float* A, const float* x, float* y, int M, int N) {
    __shared__ float s[256];
    int t = threadIdx.x, row = blockIdx.x;
    float sum = 0;
    for (int k = t; k < N; k += 256) sum += A[row * N + k] * x[k];
    s[t] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) y[row] = s[0];
}
