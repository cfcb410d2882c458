// Keeps the order: flags, a block scan of warp ballots, and a scatter; one block walks over the array.
#define WARPS 4
__global__ void kernel(const int* in, int* kept, int* count, int n) {
    __shared__ int of_warps[WARPS];
    __shared__ int base;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) base = 0;
    for (int start = 0; start < n; start += blockDim.x) {
        int i = start + threadIdx.x;
        int value = i < n ? in[i] : 0;
        bool keep = i < n && value % 3 == 0;
        unsigned ballot = __ballot_sync(0xffffffff, keep);
        if (lane == 0) of_warps[warp] = __popc(ballot);
        __syncthreads();
        int place = base + __popc(ballot & ((1u << lane) - 1));
        for (int before = 0; before < warp; ++before) place += of_warps[before];
        if (keep) kept[place] = value;
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int each = 0; each < WARPS; ++each) base += of_warps[each];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) *count = base;
}
