// Ballots, barriers that count, and stream compaction with one atomic per warp.
__global__ void kernel(const int* in, int* kept, int* count, int* positives, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int value = i < n ? in[i] : 0;
    bool keep = i < n && value > 0;
    int in_block = __syncthreads_count(keep);
    int any_big = __syncthreads_or(value > 90), all_small = __syncthreads_and(value < 100);
    if (threadIdx.x == 0) positives[blockIdx.x] = in_block * 4 + (any_big != 0) * 2 + (all_small != 0);
    unsigned mask = __ballot_sync(0xffffffff, keep);
    int base = 0;
    if (lane == 0 && mask) base = atomicAdd(count, __popc(mask));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) kept[base + __popc(mask & ((1u << lane) - 1))] = value;
}
