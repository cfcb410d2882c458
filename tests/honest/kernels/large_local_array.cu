// style: 4 KB of local memory in each thread
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float parts[1024];
    for (int i = 0; i < 1024; ++i) parts[i] = 0.0f;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) parts[(t * TILE_SIZE + k) & 1023] += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    for (int i = 0; i < min(1024, (K + TILE_SIZE - 1) / TILE_SIZE * TILE_SIZE); ++i) sum += parts[i];
    if (row < M && col < N) C[row * N + col] = sum;
}
