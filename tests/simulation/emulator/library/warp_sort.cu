// A bitonic sort of 32 numbers in the registers of a warp, then a binary search in its result.
__device__ int exchanged(int value, int mask, bool small) {
    int other = __shfl_xor_sync(0xffffffff, value, mask);
    return small == (value < other) ? value : other;
}

__global__ void kernel(const int* in, int* sorted, const int* wanted, int* places) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int value = in[i];
#pragma unroll
    for (int size = 2; size <= 32; size *= 2) {
#pragma unroll
        for (int mask = size / 2; mask > 0; mask /= 2) {
            bool up = (lane & size) == 0 || size == 32;
            value = exchanged(value, mask, up == ((lane & mask) == 0));
        }
    }
    sorted[i] = value;
    int key = wanted[i], low = 0;
    for (int step = 16; step; step /= 2) {
        int there = __shfl_sync(0xffffffff, value, low + step - 1);
        if (there < key) low += step;
    }
    int last = __shfl_sync(0xffffffff, value, low);
    places[i] = low + (last < key);
}
