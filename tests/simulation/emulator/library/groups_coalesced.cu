// The threads that came this way form a group: one atomic for all of them.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ int one_for_all(int* counter) {
    cg::coalesced_group active = cg::coalesced_threads();
    int base = 0;
    if (active.thread_rank() == 0) base = atomicAdd(counter, (int)active.size());
    return active.shfl(base, 0) + active.thread_rank();
}

__global__ void kernel(const int* in, int* even, int* odd, int* counts, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int value = in[i];
        if (value % 2 == 0) even[one_for_all(counts)] = value;
        else odd[one_for_all(counts + 1)] = value;
    }
}
