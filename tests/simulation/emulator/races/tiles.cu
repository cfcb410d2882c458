// Cooperative groups: a tile synchronises its own threads.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// launch: grid 2, block 64: in float32[128], out float32[128]

extern "C" __global__ void racy_tile_of_32(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    out[i] = row[t ^ 31];  // race warning RAW row @put
}

extern "C" __global__ void clean_tile_of_32(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    tile.sync();
    out[i] = row[t ^ 31];
}

// A tile of half a warp says nothing about the other half.
extern "C" __global__ void racy_tile_of_16(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    tile.sync();
    out[i] = row[t ^ 16];  // race warning RAW row @put
}

extern "C" __global__ void clean_tile_of_16(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    tile.sync();
    out[i] = row[t ^ 8];
}

// The block's own barrier by another name.
extern "C" __global__ void racy_tile_or_block(const float* in, float* out) {
    __shared__ float row[64];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    tile.sync();
    out[i] = row[63 - t];  // race RAW row @put
}

extern "C" __global__ void clean_tile_or_block(const float* in, float* out) {
    __shared__ float row[64];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    block.sync();
    out[i] = row[63 - t];
}

// A sum in each tile of eight.
extern "C" __global__ void racy_sums_of_eight(const float* in, float* out) {
    __shared__ float part[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    part[t] = in[i];
    for (int half = 4; half > 0; half /= 2) {
        tile.sync();
        float other = tile.thread_rank() < half ? part[t + half] : 0.0f;
        if (tile.thread_rank() < half) part[t] += other;  // @add
    }
    out[i] = part[t / 8 * 8];  // race warning RAW part @add
}

extern "C" __global__ void clean_sums_of_eight(const float* in, float* out) {
    __shared__ float part[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    part[t] = in[i];
    for (int half = 4; half > 0; half /= 2) {
        tile.sync();
        float other = tile.thread_rank() < half ? part[t + half] : 0.0f;
        if (tile.thread_rank() < half) part[t] += other;
    }
    tile.sync();
    out[i] = part[t / 8 * 8];
}

// The first thread of each tile tells the others.
extern "C" __global__ void racy_leader_of_tile(const float* in, float* out) {
    __shared__ float lead[4];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (tile.thread_rank() == 0) lead[t / 16] = in[i];  // @tell
    out[i] = in[i] - lead[t / 16];  // race warning RAW lead @tell
}

extern "C" __global__ void clean_leader_of_tile(const float* in, float* out) {
    __shared__ float lead[4];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (tile.thread_rank() == 0) lead[t / 16] = in[i];
    tile.sync();
    out[i] = in[i] - lead[t / 16];
}

// A shuffle hands over a register; it does not order memory.
extern "C" __global__ void racy_shuffle_in_tile(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float mine = in[i];
    row[t] = mine;  // @put
    float first = tile.shfl(mine, 0);
    out[i] = first + row[t ^ 1];  // race warning RAW row @put
}

extern "C" __global__ void clean_shuffle_in_tile(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float mine = in[i];
    row[t] = mine;
    float first = tile.shfl(mine, 0);
    tile.sync();
    out[i] = first + row[t ^ 1];
}

// A tile of two warps, whose barrier the header keeps in shared memory.
extern "C" __global__ void racy_tile_of_64(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int t = tile.thread_rank(), i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    out[i] = row[63 - t];  // race RAW row @put
}

extern "C" __global__ void clean_tile_of_64(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int t = tile.thread_rank(), i = blockIdx.x * 64 + t;
    row[t] = in[i];
    tile.sync();
    out[i] = row[63 - t];
}

// Its own warp is not the whole tile.
extern "C" __global__ void racy_warp_of_a_tile_of_64(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    auto warp = cg::tiled_partition<32>(tile);
    int t = tile.thread_rank(), i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    warp.sync();
    out[i] = row[63 - t];  // race RAW row @put
}

extern "C" __global__ void clean_warp_of_a_tile_of_64(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    auto warp = cg::tiled_partition<32>(tile);
    int t = tile.thread_rank(), i = blockIdx.x * 64 + t;
    row[t] = in[i];
    warp.sync();
    out[i] = row[t ^ 31];
}

// The next round overwrites what the other warp still reads.
extern "C" __global__ void racy_rounds_of_a_tile_of_64(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int t = tile.thread_rank(), i = blockIdx.x * 64 + t;
    float mine = in[i];
    for (int round = 0; round < 2; ++round) {
        row[t] = mine;  // @put; race WAR row @get
        tile.sync();
        mine += row[63 - t];  // @get
    }
    out[i] = mine;
}

extern "C" __global__ void clean_rounds_of_a_tile_of_64(const float* in, float* out) {
    __shared__ float row[64];
    auto tile = cg::tiled_partition<64>(cg::this_thread_block());
    int t = tile.thread_rank(), i = blockIdx.x * 64 + t;
    float mine = in[i];
    for (int round = 0; round < 2; ++round) {
        row[t] = mine;
        tile.sync();
        mine += row[63 - t];
        tile.sync();
    }
    out[i] = mine;
}
