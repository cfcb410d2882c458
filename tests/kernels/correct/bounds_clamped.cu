// style: indices are clamped into the matrix and the value masked, no divergent loads
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        const int kx = k0 + threadIdx.x, ky = k0 + threadIdx.y;
        const float a = A[min(row, M - 1) * K + min(kx, K - 1)];
        const float b = B[min(ky, K - 1) * N + min(col, N - 1)];
        As[threadIdx.y][threadIdx.x] = kx < K ? a : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = ky < K ? b : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
