#define BLOCK_SIZE 256

__global__ void sumReduce(const float* values, float* total, int N) {
    __shared__ float sums[BLOCK_SIZE];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }

    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = BLOCK_SIZE / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0) atomicAdd(total, sums[0]);
}
