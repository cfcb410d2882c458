// Groups formed by label at run time, and a group that waits for itself.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void kernel(const int* labels, int* sizes, int* ranks) {
    __shared__ int shared[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto alike = cg::labeled_partition(tile, labels[i]);
    shared[threadIdx.x] = alike.thread_rank();
    tile.sync();
    sizes[i] = alike.size();
    ranks[i] = shared[threadIdx.x ^ 1] * 100 + alike.thread_rank();
}
