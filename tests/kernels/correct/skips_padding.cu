// style: the inner loop skips what lies behind the end of K with continue
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int tile = 0; tile < (K + TILE_SIZE - 1) / TILE_SIZE; tile++) {
        int aCol = tile * TILE_SIZE + tx;
        int bRow = tile * TILE_SIZE + ty;
        As[ty][tx] = 0.0f;
        Bs[ty][tx] = 0.0f;
        if (row < M && aCol < K) As[ty][tx] = A[row * K + aCol];
        if (bRow < K && col < N) Bs[ty][tx] = B[bRow * N + col];
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) {
            if (tile * TILE_SIZE + k >= K) continue;
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
