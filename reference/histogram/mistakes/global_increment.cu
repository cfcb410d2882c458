__global__ void histogram(const unsigned char* values, int* counts, int N, int B) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) {
        counts[values[i] * B / 256]++;
    }
}
