#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE];
    __shared__ float tileB[TILE_SIZE][TILE_SIZE];

    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const int phases = (K + TILE_SIZE - 1) / TILE_SIZE;

    int innerA = threadIdx.x, innerB = threadIdx.y;
    float nextA = (row < M && innerA < K) ? A[row * K + innerA] : 0.0f;
    float nextB = (innerB < K && col < N) ? B[innerB * N + col] : 0.0f;

    float sum = 0.0f;
    for (int phase = 0; phase < phases; ++phase) {
        tileA[threadIdx.y][threadIdx.x] = innerA < K ? nextA : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = innerB < K ? nextB : 0.0f;
        __syncthreads();

        innerA += TILE_SIZE;
        innerB += TILE_SIZE;
        nextA = row < M ? A[row * K + innerA] : 0.0f;
        nextB = col < N ? B[innerB * N + col] : 0.0f;
        for (int k = 0; k < TILE_SIZE; ++k) {
            sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        }
        __syncthreads();
    }

    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
