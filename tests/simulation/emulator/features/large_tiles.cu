// Cooperative groups: tiles of more than one warp, which keep their barriers in memory that the system reserves.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <int SIZE> __device__ void collectives(const int *a, int *out) {
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x, v = a[i];
    out[i] = cg::reduce(tile, v, cg::plus<int>());
    out[n + i] = cg::reduce(tile, v, cg::greater<int>());
    out[2 * n + i] = tile.shfl(v, 3);
    out[3 * n + i] = tile.any(v == 7) + 2 * tile.all(v >= 1);
    out[4 * n + i] = tile.thread_rank() + 10000 * tile.meta_group_rank();
}
extern "C" __global__ void collectives_of_64(const int *a, int *out) { collectives<64>(a, out); }
extern "C" __global__ void collectives_of_128(const int *a, int *out) { collectives<128>(a, out); }
extern "C" __global__ void collectives_of_256(const int *a, int *out) { collectives<256>(a, out); }
extern "C" __global__ void collectives_of_512(const int *a, int *out) { collectives<512>(a, out); }

template <int SIZE> __device__ void reversed(const int *a, int *out) {
    __shared__ int s[1024];
    auto tile = cg::tiled_partition<SIZE>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = a[i];
    tile.sync();
    out[i] = s[t / SIZE * SIZE + SIZE - 1 - t % SIZE];
}
extern "C" __global__ void reversed_in_32(const int *a, int *out) { reversed<32>(a, out); }
extern "C" __global__ void reversed_in_64(const int *a, int *out) { reversed<64>(a, out); }
extern "C" __global__ void reversed_in_256(const int *a, int *out) { reversed<256>(a, out); }
extern "C" __global__ void reversed_in_512(const int *a, int *out) { reversed<512>(a, out); }

extern "C" __global__ void reversed_in_1024(const int *a, int *out) {
    __shared__ cg::block_tile_memory<1024> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<1024>(block);
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = a[threadIdx.x];
    tile.sync();
    out[threadIdx.x] = dynamic[1023 - threadIdx.x] + cg::reduce(tile, 1, cg::plus<int>());
}

// Tiles of tiles, round after round; each level synchronises its own threads.
extern "C" __global__ void tiles_of_tiles(const int *a, int *out) {
    __shared__ int s[256];
    auto outer = cg::tiled_partition<128>(cg::this_thread_block());
    auto middle = cg::tiled_partition<64>(outer);
    auto inner = cg::tiled_partition<32>(middle);
    int t = threadIdx.x, v = a[t];
    for (int round = 0; round < 2; ++round) {
        s[t] = v + inner.meta_group_rank();
        middle.sync();
        v = s[t ^ 33] + cg::reduce(middle, 1, cg::plus<int>());
        outer.sync();
    }
    out[t] = v + cg::reduce(outer, v, cg::less<int>());
}

// A copy that the threads of a tile begin together, and a sum that one of them stores.
extern "C" __global__ void copies_of_tiles(const int *a, int *out) {
    __shared__ int s[256];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int first = tile.meta_group_rank() * 64, t = threadIdx.x;
    cg::memcpy_async(tile, s + first, a + first, 64 * sizeof(int));
    cg::wait(tile);
    out[t] = s[t ^ 63];
    cg::reduce_store_async(tile, out + 256 + tile.meta_group_rank(), s[t], cg::plus<int>());
}

// Warps that left before do not belong to any tile that still works.
extern "C" __global__ void one_tile_leaves(const int *a, int *out) {
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    if (tile.meta_group_rank() == 1) return;
    for (int round = 0; round < 2; ++round) tile.sync();
    out[threadIdx.x] = cg::reduce(tile, a[threadIdx.x], cg::plus<int>());
}
