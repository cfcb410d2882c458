// style: float4 loads from global memory where K and N allow, scalar loads elsewhere
#define TILE_SIZE 16

__device__ __forceinline__ void loadRow(const float* matrix, int rows, int cols, int row, int col, float* tileRow) {
    if (cols % 4 == 0 && row < rows && col + 3 < cols) {
        *reinterpret_cast<float4*>(tileRow) = *reinterpret_cast<const float4*>(matrix + row * cols + col);
        return;
    }
    for (int i = 0; i < 4; ++i)
        tileRow[i] = (row < rows && col + i < cols) ? matrix[row * cols + col + i] : 0.0f;
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ __align__(16) float As[TILE_SIZE][TILE_SIZE];
    __shared__ __align__(16) float Bs[TILE_SIZE][TILE_SIZE];
    const int tid = threadIdx.y * TILE_SIZE + threadIdx.x;
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        // 64 threads bring A's tile, the next 64 bring B's, four elements each
        const int r = tid % 64 / 4, c = tid % 4 * 4;
        if (tid < 64)
            loadRow(A, M, K, blockIdx.y * TILE_SIZE + r, k0 + c, &As[r][c]);
        else if (tid < 128)
            loadRow(B, K, N, k0 + r, blockIdx.x * TILE_SIZE + c, &Bs[r][c]);
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
