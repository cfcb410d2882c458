// style: the next pair of tiles is loaded while this one is multiplied, one barrier per phase
#define TILE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[2][TILE][TILE];
    __shared__ float b[2][TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;

    a[0][y][x] = row < M && x < K ? A[row * K + x] : 0.0f;
    b[0][y][x] = y < K && col < N ? B[y * N + col] : 0.0f;
    __syncthreads();

    float sum = 0.0f;
    int now = 0;
    for (int k0 = 0; k0 < K; k0 += TILE, now = 1 - now) {
        const int next = k0 + TILE;
        if (next < K) {
            a[1 - now][y][x] = row < M && next + x < K ? A[row * K + next + x] : 0.0f;
            b[1 - now][y][x] = next + y < K && col < N ? B[(next + y) * N + col] : 0.0f;
        }
        for (int k = 0; k < TILE; ++k) sum += a[now][y][k] * b[now][k][x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
