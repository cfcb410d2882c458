constexpr int TILE_SIZE = 16;

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[TILE_SIZE][TILE_SIZE];
    __shared__ float b[TILE_SIZE][TILE_SIZE];
    const int y = threadIdx.y, x = threadIdx.x;
    const int row = blockIdx.y * TILE_SIZE + y;
    const int col = blockIdx.x * TILE_SIZE + x;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        a[y][x] = (row < M && k0 + x < K) ? A[row * K + k0 + x] : 0.0f;
        b[y][x] = (k0 + y < K && col < N) ? B[(k0 + y) * N + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; ++i) acc += a[y][i] * b[i][x];
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
