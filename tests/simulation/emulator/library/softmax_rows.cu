// Softmax of each row: a block finds the maximum, the sum of the exponentials, and divides.
template <typename Combine>
__device__ float over_block(float value, Combine combine, float* of_warps) {
    for (int by = 16; by; by /= 2) value = combine(value, __shfl_xor_sync(0xffffffff, value, by));
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warps[0];
    for (int warp = 1; warp < blockDim.x / 32; ++warp) value = combine(value, of_warps[warp]);
    return value;
}

__global__ void kernel(const float* in, float* out, int columns) {
    __shared__ float of_warps[32];
    const float* row = in + blockIdx.x * columns;
    float greatest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) greatest = fmaxf(greatest, row[i]);
    greatest = over_block(greatest, [](float a, float b) { return fmaxf(a, b); }, of_warps);
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __expf(row[i] - greatest);
    sum = over_block(sum, [](float a, float b) { return a + b; }, of_warps);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        out[blockIdx.x * columns + i] = __fdividef(__expf(row[i] - greatest), sum);
    }
}
