// Staff only. The model solution: both kernels.

#define TILE_SIZE 16

__global__ void naiveMatMul(const float* A, const float* B, float* C, int m, int n, int k) {
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) {
            sum += A[row * k + i] * B[i * n + col];
        }
        C[row * n + col] = sum;
    }
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int m, int n, int k) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE];
    __shared__ float tileB[TILE_SIZE][TILE_SIZE];

    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const int phases = (k + TILE_SIZE - 1) / TILE_SIZE;

    float sum = 0.0f;
    for (int phase = 0; phase < phases; ++phase) {
        const int innerA = phase * TILE_SIZE + threadIdx.x;
        const int innerB = phase * TILE_SIZE + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = (row < m && innerA < k) ? A[row * k + innerA] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = (innerB < k && col < n) ? B[innerB * n + col] : 0.0f;
        __syncthreads();  // the tiles are complete before anybody reads them

        for (int i = 0; i < TILE_SIZE; ++i) {
            sum += tileA[threadIdx.y][i] * tileB[i][threadIdx.x];
        }
        __syncthreads();  // everybody has read them before anybody writes the next ones
    }

    if (row < m && col < n) {
        C[row * n + col] = sum;
    }
}
