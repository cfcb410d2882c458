// One sum for everybody: shuffles within warps, shared memory between them, an atomic between blocks.
__device__ int warp_sum(int value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffff, value, offset);
    }
    return value;
}

__global__ void kernel(const int* in, int* total, int n) {
    __shared__ int of_warps[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        sum += in[i];
    }
    sum = warp_sum(sum);
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) {
        of_warps[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? of_warps[lane] : 0;
        sum = warp_sum(sum);
        if (lane == 0) {
            atomicAdd(total, sum);
        }
    }
}
