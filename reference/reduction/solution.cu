// Staff only. The model solution: a grid-stride loop, shuffles within each warp, shared memory between the warps of a
// block, and one atomic addition per block.

#define BLOCK_SIZE 256
#define WARP_SIZE 32
#define EVERYBODY 0xffffffffu

__device__ float warpSum(float sum) {
    for (int offset = WARP_SIZE / 2; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(EVERYBODY, sum, offset);
    }
    return sum;  // complete in lane 0
}

__global__ void sumReduce(const float* values, float* total, int N) {
    __shared__ float warpSums[BLOCK_SIZE / WARP_SIZE];
    const int lane = threadIdx.x % WARP_SIZE;
    const int warp = threadIdx.x / WARP_SIZE;

    float sum = 0.0f;
    for (int i = blockIdx.x * BLOCK_SIZE + threadIdx.x; i < N; i += gridDim.x * BLOCK_SIZE) {
        sum += values[i];
    }

    sum = warpSum(sum);
    if (lane == 0) warpSums[warp] = sum;
    __syncthreads();  // every warp has left its sum before the first one reads them

    if (warp == 0) {
        sum = lane < BLOCK_SIZE / WARP_SIZE ? warpSums[lane] : 0.0f;
        sum = warpSum(sum);
        if (lane == 0) atomicAdd(total, sum);
    }
}
