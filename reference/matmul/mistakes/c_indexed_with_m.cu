#define TILE_SIZE 16
#define IDX(r, c, width) ((r) * (width) + (c))

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float tile_a[TILE_SIZE][TILE_SIZE];
    __shared__ float tile_b[TILE_SIZE][TILE_SIZE];

    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int k_a = t * TILE_SIZE + threadIdx.x;
        int k_b = t * TILE_SIZE + threadIdx.y;
        tile_a[threadIdx.y][threadIdx.x] = row < M && k_a < K ? A[IDX(row, k_a, K)] : 0;
        tile_b[threadIdx.y][threadIdx.x] = k_b < K && col < N ? B[IDX(k_b, col, N)] : 0;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }

    if (row < M && col < N)
        C[IDX(row, col, M)] = sum;
}
