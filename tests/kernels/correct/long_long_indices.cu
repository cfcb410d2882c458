// style: 64-bit signed indices, counting down the tiles
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    long long row = (long long)blockIdx.y * TILE_SIZE + threadIdx.y;
    long long col = (long long)blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (long long t = (K + TILE_SIZE - 1) / TILE_SIZE - 1; t >= 0; t--) {
        long long kx = t * TILE_SIZE + threadIdx.x;
        long long ky = t * TILE_SIZE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = TILE_SIZE - 1; k >= 0; k--) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
