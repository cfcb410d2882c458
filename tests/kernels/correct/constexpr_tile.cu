// style: constexpr tile size, auto, compile-time derived constants
constexpr int TILE = 16;
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
static_assert(ceil_div(34, TILE) == 3, "34 needs three tiles");

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    const auto ty = static_cast<int>(threadIdx.y);
    const auto tx = static_cast<int>(threadIdx.x);
    const auto row = static_cast<int>(blockIdx.y) * TILE + ty;
    const auto col = static_cast<int>(blockIdx.x) * TILE + tx;
    const auto tiles = K / TILE + (K % TILE != 0);

    auto sum = 0.0f;
    for (auto t = 0; t < tiles; ++t) {
        const auto ka = t * TILE + tx;
        const auto kb = t * TILE + ty;
        a[ty][tx] = row < M && ka < K ? A[row * K + ka] : 0.0f;
        b[ty][tx] = kb < K && col < N ? B[kb * N + col] : 0.0f;
        __syncthreads();
        for (auto k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
