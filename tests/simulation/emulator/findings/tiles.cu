// Tiles of cooperative groups, of more than one warp, to which not all of their threads come.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void half_a_tile(int* A) {
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    if (threadIdx.x < 32) tile.sync();
    A[threadIdx.x] = tile.size();
}
extern "C" __global__ void past_the_end_beside_a_tile(int* A) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    s[threadIdx.x + 1] = A[threadIdx.x];
    tile.sync();
    A[threadIdx.x] = s[threadIdx.x];
}

// Nothing is wrong with these.
extern "C" __global__ void clean_tiles(int* A) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    s[threadIdx.x] = cg::reduce(tile, A[threadIdx.x], cg::plus<int>());
    tile.sync();
    A[threadIdx.x] = s[threadIdx.x ^ 63];
}
