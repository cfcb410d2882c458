// Open addressing: a key claims its slot with a compare-and-swap, and its count is an atomic.
#define SLOTS 512
__global__ void kernel(const unsigned* keys, unsigned* slots, unsigned* counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], slot = (key * 2654435761u) % SLOTS;
    while (true) {
        unsigned found = atomicCAS(&slots[slot], 0xffffffffu, key);
        if (found == 0xffffffffu || found == key) break;
        slot = (slot + 1) % SLOTS;
    }
    atomicAdd(&counts[key], 1u);
}
