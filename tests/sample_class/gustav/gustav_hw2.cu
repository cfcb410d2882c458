#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float Asub[TILE_SIZE][TILE_SIZE];
    __shared__ float Bsub[TILE_SIZE][TILE_SIZE];

    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    float total = 0.0f;
    int phases = (K + TILE_SIZE - 1) / TILE_SIZE;
    for (int p = 0; p < phases; p++) {
        int ka = p * TILE_SIZE + threadIdx.x;
        int kb = p * TILE_SIZE + threadIdx.y;
        Asub[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? A[row * N + ka] : 0.0f;
        Bsub[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? B[kb * K + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) total += Asub[threadIdx.y][k] * Bsub[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = total;
}
