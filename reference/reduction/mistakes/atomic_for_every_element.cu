__global__ void sumReduce(const float* values, float* total, int N) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        atomicAdd(total, values[i]);
    }
}
