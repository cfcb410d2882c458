// Cooperative groups: a block of tiles, the library's reductions, and a tile's own shuffles and votes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void kernel(const int* in, int* sums, int* greatest, unsigned* ballots, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(warp);
    __shared__ int of_warps[32];
    int i = block.group_index().x * block.size() + block.thread_rank();
    int value = i < n ? in[i] : 0;
    int most = cg::reduce(tile, value, cg::greater<int>());
    unsigned ballot = tile.ballot(value == most);
    if (tile.thread_rank() == 0) {
        int place = (block.group_index().x * block.size() + block.thread_rank()) / 8;
        greatest[place] = most;
        ballots[place] = ballot;
    }
    int sum = cg::reduce(warp, value, cg::plus<int>());
    if (warp.thread_rank() == 0) of_warps[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? of_warps[warp.thread_rank()] : 0;
        for (int by = warp.size() / 2; by > 0; by /= 2) sum += warp.shfl_down(sum, by);
        if (warp.thread_rank() == 0) sums[block.group_index().x] = sum;
    }
}
