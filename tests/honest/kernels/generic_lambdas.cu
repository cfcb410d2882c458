// style: generic and constexpr lambdas
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    auto guarded = [](bool inside, const auto* p, int i) { return inside ? p[i] : decltype(*p + 0)(0); };
    constexpr auto twice = [](int x) constexpr { return 2 * x; };
    static_assert(twice(8) == TILE_SIZE);
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = guarded(row < M && kx < K, A, row * K + kx);
        Bs[ty][tx] = guarded(ky < K && col < N, B, ky * N + col);
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
