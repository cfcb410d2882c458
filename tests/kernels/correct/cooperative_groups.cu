// style: cooperative groups for the barrier and the thread's place in its block
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    cg::thread_block block = cg::this_thread_block();
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int ty = block.thread_index().y, tx = block.thread_index().x;
    const int row = block.group_index().y * TILE_SIZE + ty;
    const int col = block.group_index().x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        As[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : 0.0f;
        block.sync();
        for (int k = 0; k < TILE_SIZE; k++) sum += As[ty][k] * Bs[k][tx];
        cg::sync(block);
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
