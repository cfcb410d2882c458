#define TILE_SIZE 16

__global__ void naiveMatMul(float* A, float* B, float* C, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

__global__ void tiledMatMul(float* A, float* B, float* C, int m, int n, int k) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * blockDim.y + ty;
    int col = blockIdx.x * blockDim.x + tx;
    float sum = 0.0f;
    for (int t = 0; t < (k + TILE_SIZE - 1) / TILE_SIZE; t++) {
        if (row < m && t * TILE_SIZE + tx < k)
            As[ty][tx] = A[row * k + t * TILE_SIZE + tx];
        else
            As[ty][tx] = 0.0f;
        if (t * TILE_SIZE + ty < k && col < n)
            Bs[ty][tx] = B[(t * TILE_SIZE + ty) * n + col];
        else
            Bs[ty][tx] = 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; i++)
            sum += As[ty][i] * Bs[i][tx];
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}
