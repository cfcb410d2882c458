// The interface in my text book is (A, B, C, M, N, K).
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int N, int K) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int tile = 0; tile < (K + TILE_SIZE - 1) / TILE_SIZE; tile++) {
        int A_col = tile * TILE_SIZE + tx;
        int B_row = tile * TILE_SIZE + ty;
        As[ty][tx] = (row < M && A_col < K) ? A[row * K + A_col] : 0.0f;
        Bs[ty][tx] = (B_row < K && col < N) ? B[B_row * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) {
            sum += As[ty][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
