#define BLOCK_SIZE 128
#define MAX_BINS 256

__global__ void histogram(const unsigned char* values, int* counts, int N, int B) {
    __shared__ int own[MAX_BINS];

    for (int b = threadIdx.x; b < B; b += blockDim.x) {
        own[b] = 0;
    }
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        int bin = values[i] / 16;
        atomicAdd(&own[bin], 1);
    }
    __syncthreads();

    for (int b = threadIdx.x; b < B; b += blockDim.x) {
        atomicAdd(&counts[b], own[b]);
    }
}
