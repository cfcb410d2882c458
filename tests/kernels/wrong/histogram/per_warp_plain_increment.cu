#define BLOCK_SIZE 128
#define MAX_BINS 256
#define WARPS (BLOCK_SIZE / 32)
// one private histogram for each warp
__global__ void histogram(const unsigned char* values, int* counts, int N, int B) {
    __shared__ int h[WARPS * MAX_BINS];
    for (int i = threadIdx.x; i < WARPS * MAX_BINS; i += blockDim.x) h[i] = 0;
    __syncthreads();
    int* own = h + (threadIdx.x / 32) * MAX_BINS;
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        int bin = (values[i] * B) >> 8;
        own[bin]++;
    }
    __syncthreads();
    for (int b = threadIdx.x; b < B; b += blockDim.x) {
        int sum = 0;
        for (int w = 0; w < WARPS; w++) sum += h[w * MAX_BINS + b];
        atomicAdd(&counts[b], sum);
    }
}
