#define BLOCK_SIZE 128
#define FULL 0xffffffffu
// four numbers at a time, and what is left over one by one
__global__ void sumReduce(const float* values, float* total, int N) {
    __shared__ float s[4];
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    const int step = gridDim.x * blockDim.x;
    int acc = 0;
    const int quads = N / 4;
    for (int q = t; q < quads; q += step) {
        float a = values[4 * q], b = values[4 * q + 1];
        float c = values[4 * q + 2], d = values[4 * q + 3];
        acc += (a + b) + (c + d);
    }
    for (int i = quads * 4 + t; i < N; i += step) acc += values[i];
#pragma unroll
    for (int m = 16; m >= 1; m /= 2) acc += __shfl_xor_sync(FULL, acc, m);
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = acc;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = s[0] + s[1] + s[2] + s[3];
        atomicAdd(total, sum);
    }
}
