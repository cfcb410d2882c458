// style: only threads that own an element of C compute, and only over the K that exists
#define TILE_WIDTH 32

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_WIDTH][TILE_WIDTH];
    __shared__ float Bs[TILE_WIDTH][TILE_WIDTH];
    int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    int col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_WIDTH - 1) / TILE_WIDTH; t++) {
        int kx = t * TILE_WIDTH + threadIdx.x;
        int ky = t * TILE_WIDTH + threadIdx.y;
        if (row < M && kx < K) As[threadIdx.y][threadIdx.x] = A[row * K + kx];
        if (ky < K && col < N) Bs[threadIdx.y][threadIdx.x] = B[ky * N + col];
        __syncthreads();
        if (row < M && col < N) {
            int left = min(TILE_WIDTH, K - t * TILE_WIDTH);
            for (int k = 0; k < left; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
