// style: the next elements wait in registers while this tile is multiplied
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + y, col = blockIdx.x * TILE_SIZE + x;
    float nextA = (row < M && x < K) ? A[row * K + x] : 0.0f;
    float nextB = (y < K && col < N) ? B[y * N + col] : 0.0f;
    float sum = 0.0f;
    for (int k0 = TILE_SIZE; k0 < K + TILE_SIZE; k0 += TILE_SIZE) {
        As[y][x] = nextA;
        Bs[y][x] = nextB;
        __syncthreads();
        nextA = (row < M && k0 + x < K) ? A[row * K + k0 + x] : 0.0f;
        nextB = (k0 + y < K && col < N) ? B[(k0 + y) * N + col] : 0.0f;
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[y][k] * Bs[k][x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
