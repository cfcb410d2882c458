// Cooperative groups: inclusive and exclusive scans of tiles of 16.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void kernel(const unsigned* in, unsigned* inclusive, unsigned* exclusive) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    inclusive[i] = cg::inclusive_scan(tile, in[i], cg::plus<unsigned>());
    exclusive[i] = cg::exclusive_scan(tile, in[i], cg::plus<unsigned>());
}
