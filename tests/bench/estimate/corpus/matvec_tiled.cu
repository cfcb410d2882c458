// A row to a thread; a block brings tiles of 32 columns to shared memory side by side.

extern "C" __global__ void matvec_tiled(const float* A, const float* x, float* y, int M, int N) {
    __shared__ float s[64][33];
    __shared__ float part[32];
    int t = threadIdx.x, first = blockIdx.x * 64;
    float sum = 0;
    for (int start = 0; start < N; start += 32) {
        for (int i = t; i < 64 * 32; i += 64) s[i / 32][i % 32] = A[(first + i / 32) * N + start + i % 32];
        if (t < 32) part[t] = x[start + t];
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += s[t][k] * part[k];
        __syncthreads();
    }
    y[first + t] = sum;
}
