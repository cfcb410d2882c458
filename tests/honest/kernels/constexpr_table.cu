// style: a table of 4,096 numbers computed by the compiler
#include <cstddef>
struct Table {
    int value[4096];
};
constexpr Table squares() {
    Table table{};
    for (int i = 0; i < 4096; ++i) table.value[i] = i * i % 4093;
    return table;
}
constexpr Table TABLE = squares();
static_assert(TABLE.value[64] == 3, "64 squared is 4096");
constexpr int HALF = TABLE.value[64] + 5;
constexpr int TILE_SIZE = 2 * HALF;

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
