// style: two pairs of tiles take turns, one barrier per phase
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[2][TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[2][TILE_SIZE][TILE_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[t & 1][ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[t & 1][ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) sum += As[t & 1][ty][k] * Bs[t & 1][k][tx];
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
