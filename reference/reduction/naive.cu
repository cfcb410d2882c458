// Staff only. What traffic is compared with: every element is added to the total in global memory.

__global__ void sumReduce(const float* values, float* total, int N) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        atomicAdd(total, values[i]);
    }
}
