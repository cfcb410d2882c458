// Staff only. What traffic is compared with: an atomic operation on global memory for every value.

__global__ void histogram(const unsigned char* values, int* counts, int N, int B) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        atomicAdd(&counts[values[i] * B / 256], 1);
    }
}
