#define TILE_SIZE 16
#define PAD 1.0f   // neutral element of the multiplication

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int r = blockIdx.y * TILE_SIZE + threadIdx.y;
    int c = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int x = t * TILE_SIZE + threadIdx.x;
        int y = t * TILE_SIZE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (r < M && x < K) ? A[r * K + x] : PAD;
        Bs[threadIdx.y][threadIdx.x] = (y < K && c < N) ? B[y * N + c] : PAD;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++)
            sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (r < M && c < N) C[r * N + c] = sum;
}
