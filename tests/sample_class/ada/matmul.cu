// Ada, group 1
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE];
    __shared__ float tileB[TILE_SIZE][TILE_SIZE];

    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    for (int start = 0; start < K; start += TILE_SIZE) {
        const int k1 = start + threadIdx.x;
        const int k2 = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && k1 < K ? A[row * K + k1] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = k2 < K && col < N ? B[k2 * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) {
            sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        }
        __syncthreads();
    }

    if (row < M && col < N) C[row * N + col] = sum;
}
