#include <cooperative_groups.h>
namespace cg = cooperative_groups;
constexpr int TILE_SIZE = 32;

template <int T>
struct Tile {
    float v[T][T];
};

template <int T>
__device__ void fetch(Tile<T>& tile, const float* __restrict__ m, int r0, int c0, int rows, int cols) {
    const int r = r0 + threadIdx.y;
    const int c = c0 + threadIdx.x;
    float x = 0.0f;
    if (r < rows && c < cols) {
        x = __ldg(&m[r * cols + c]);
    }
    tile.v[threadIdx.y][threadIdx.x] = x;
}

template <int T>
__device__ float dot(const Tile<T>& a, const Tile<T>& b) {
    float s = 0.0f;
    for (int k = 0; k < T; ++k) {
        s = fmaf(a.v[threadIdx.y][k], b.v[k][threadIdx.x], s);
    }
    return s;
}

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    auto block = cg::this_thread_block();
    __shared__ Tile<TILE_SIZE> a;
    __shared__ Tile<TILE_SIZE> b;
    const int r0 = blockIdx.y * TILE_SIZE;
    const int c0 = blockIdx.x * TILE_SIZE;
    if (r0 + threadIdx.y >= M || c0 + threadIdx.x >= N) return;
    float total = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        fetch(a, A, r0, k0, M, K);
        fetch(b, B, k0, c0, K, N);
        block.sync();
        total += dot(a, b);
        block.sync();
    }
    const int r = r0 + threadIdx.y, c = c0 + threadIdx.x;
    if (r < M && c < N) {
        C[r * N + c] = total;
    }
}
