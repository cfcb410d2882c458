#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    // load the tile into shared memory
    As[threadIdx.y][threadIdx.x] = (row < M && threadIdx.x < K) ? A[row * K + threadIdx.x] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = (threadIdx.y < K && col < N) ? B[threadIdx.y * N + col] : 0.0f;
    __syncthreads();

    float sum = 0.0f;
    for (int k = 0; k < TILE_SIZE; k++)
        sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();

    if (row < M && col < N)
        C[row * N + col] = sum;
}
