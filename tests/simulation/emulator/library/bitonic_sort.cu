// Bitonic sort of keys with their values in shared memory, ascending or descending by block.
#define N 256
__global__ void kernel(unsigned* keys, unsigned short* values) {
    __shared__ unsigned key[N];
    __shared__ unsigned short value[N];
    unsigned t = threadIdx.x, base = blockIdx.x * N;
    for (unsigned i = t; i < N; i += blockDim.x) {
        key[i] = keys[base + i];
        value[i] = values[base + i];
    }
    bool descending = blockIdx.x & 1;
    for (unsigned size = 2; size <= N; size <<= 1) {
        for (unsigned stride = size / 2; stride; stride >>= 1) {
            __syncthreads();
            unsigned low = 2 * t - (t & (stride - 1)), high = low + stride;
            bool up = ((low & size) == 0) != descending;
            if ((key[low] > key[high]) == up) {
                unsigned k = key[low];
                key[low] = key[high];
                key[high] = k;
                unsigned short v = value[low];
                value[low] = value[high];
                value[high] = v;
            }
        }
    }
    __syncthreads();
    for (unsigned i = t; i < N; i += blockDim.x) {
        keys[base + i] = key[i];
        values[base + i] = value[i];
    }
}
