// Staff only. The model solution: one pair of tiles in shared memory, two barriers per phase, three guards.

#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE];
    __shared__ float tileB[TILE_SIZE][TILE_SIZE];

    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const int phases = (K + TILE_SIZE - 1) / TILE_SIZE;

    float sum = 0.0f;
    for (int phase = 0; phase < phases; ++phase) {
        const int innerA = phase * TILE_SIZE + threadIdx.x;
        const int innerB = phase * TILE_SIZE + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = (row < M && innerA < K) ? A[row * K + innerA] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = (innerB < K && col < N) ? B[innerB * N + col] : 0.0f;
        __syncthreads();  // the tiles are complete before anybody reads them

        for (int k = 0; k < TILE_SIZE; ++k) {
            sum += tileA[threadIdx.y][k] * tileB[k][threadIdx.x];
        }
        __syncthreads();  // everybody has read them before anybody writes the next ones
    }

    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
