// style: small device functions, one of them never inlined, the barrier inside one
#define TILE_SIZE 16

__device__ __noinline__ float at(const float* matrix, int rows, int cols, int row, int col) {
    return (row < rows && col < cols) ? matrix[row * cols + col] : 0.0f;
}

__device__ float dot(const float* rowOfA, const float* columnOfB) {
    float sum = 0.0f;
    for (int k = 0; k < TILE_SIZE; k++) sum += rowOfA[k] * columnOfB[k * TILE_SIZE];
    return sum;
}

__device__ void waitForBlock() { __syncthreads(); }

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE * TILE_SIZE];
    __shared__ float Bs[TILE_SIZE * TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    int slot = threadIdx.y * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        As[slot] = at(A, M, K, row, k0 + threadIdx.x);
        Bs[slot] = at(B, K, N, k0 + threadIdx.y, col);
        waitForBlock();
        sum += dot(As + threadIdx.y * TILE_SIZE, Bs + threadIdx.x);
        waitForBlock();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
