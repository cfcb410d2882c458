// style: cooperative groups: a tile of a warp, its rank, and a barrier of the block
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        cg::sync(block);
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        cg::sync(block);
    }
    if (row < M && col < N) C[row * N + col] = sum;
    if (warp.thread_rank() == 0 && cg::reduce(cg::coalesced_threads(), 1, cg::plus<int>()) < 1) C[0] = 0.0f;
}
