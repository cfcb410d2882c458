// The least and the greatest of floats as whole numbers in the same order, with atomics.
__device__ int ordered(float value) {
    int bits = __float_as_int(value);
    return bits >= 0 ? bits : bits ^ 0x7fffffff;
}

__global__ void kernel(const float* in, int* extremes, int n) {
    __shared__ int least, greatest;
    if (threadIdx.x == 0) {
        least = 0x7fffffff;
        greatest = 0x80000000;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int key = ordered(in[i]);
        atomicMin(&least, key);
        atomicMax(&greatest, key);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicMin(extremes, least);
        atomicMax(extremes + 1, greatest);
    }
}
