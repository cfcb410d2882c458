// Cooperative groups: blocks, tiles, coalesced threads, reductions, scans and partitions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int *a, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<8>(warp);
    int v = a[block.thread_rank()], n = block.size();
    out += block.thread_rank();
    out[0] = cg::reduce(warp, v, cg::plus<int>());
    out[n] = cg::reduce(tile, v, cg::greater<int>());
    out[2 * n] = cg::inclusive_scan(tile, v);
    out[3 * n] = cg::exclusive_scan(warp, v, cg::plus<int>());
    out[4 * n] = tile.shfl_down(v, 1) + tile.meta_group_rank() * 1000;
    out[5 * n] = tile.ballot(v & 1) + tile.any(v == 3);
    block.sync();
    out[6 * n] = cg::reduce(tile, (float)v, cg::less<float>());
    out[7 * n] = tile.match_any(v % 3);
}

extern "C" __global__ void coalesced(const int *a, int *counter, int *out) {
    int i = threadIdx.x;
    if (a[i] % 3 == 0) {
        auto group = cg::coalesced_threads();
        int base;
        if (group.thread_rank() == 0) base = atomicAdd(counter, group.size());
        out[group.shfl(base, 0) + group.thread_rank()] = a[i];
        out[32 + i] = cg::reduce(group, a[i], cg::plus<int>());
    } else {
        auto group = cg::coalesced_threads();
        group.sync();
        out[32 + i] = cg::inclusive_scan(group, a[i]);
    }
}

extern "C" __global__ void partitions(const int *a, int *out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto parity = cg::binary_partition(warp, a[threadIdx.x] & 1);
    out[threadIdx.x] = cg::reduce(parity, 1, cg::plus<int>()) * 100 + parity.thread_rank();
    auto rest = cg::labeled_partition(warp, a[threadIdx.x] % 3);
    out[32 + threadIdx.x] = rest.size() * 100 + rest.thread_rank();
}

extern "C" __global__ void ranks(int *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition(block, 4);
    int place = cg::this_grid().thread_rank(), n = cg::this_grid().size();
    out[place] = tile.thread_rank() + tile.size() * 10 + block.group_index().x * 100;
    out[n + place] = block.thread_index().x + block.dim_threads().x * 100;
    cg::invoke_one(block, [&] { out[2 * n + block.group_index().x] = 5; });
}
