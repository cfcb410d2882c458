// Lanes of a warp that hold the same key elect one of them to count for all: match, ballot and leader.
__global__ void kernel(const unsigned short* keys, unsigned long long* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned active = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) return;
    unsigned short key = keys[i] & 31;
    unsigned same = __match_any_sync(active, key);
    int leader = __ffs(same) - 1;
    if ((threadIdx.x & 31) == leader) atomicAdd(&counts[key], (unsigned long long)__popc(same));
}
