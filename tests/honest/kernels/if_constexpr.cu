// style: if constexpr, structured bindings, attributes, alignas
template <bool Guard>
[[nodiscard]] __device__ float get(const float* p, bool inside, [[maybe_unused]] int i) {
    if constexpr (Guard) {
        return inside ? p[i] : 0.0f;
    } else {
        return p[i];
    }
}
struct Place {
    int row, column;
};
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    alignas(128) __shared__ float As[TILE_SIZE][TILE_SIZE];
    alignas(16) __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = get<true>(A, row < M && kx < K, row * K + kx);
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (const auto [r, c] = Place{row, col}; r < M && c < N) C[r * N + c] = sum;
}
