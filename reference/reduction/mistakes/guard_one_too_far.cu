#define BLOCK_SIZE 256

__device__ float warpSum(float sum) {
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    return sum;
}

__global__ void sumReduce(const float* values, float* total, int N) {
    __shared__ float warpSums[BLOCK_SIZE / 32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= N; i += gridDim.x * blockDim.x) {
        sum += values[i];
    }

    sum = warpSum(sum);
    if (lane == 0) warpSums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = lane < BLOCK_SIZE / 32 ? warpSums[lane] : 0.0f;
        sum = warpSum(sum);
        if (lane == 0) atomicAdd(total, sum);
    }
}
