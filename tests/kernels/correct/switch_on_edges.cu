// style: four cases of loading in a switch, barriers outside of it
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int kx = t * TILE_SIZE + threadIdx.x;
        int ky = t * TILE_SIZE + threadIdx.y;
        float a = 0.0f, b = 0.0f;
        switch ((row < M && kx < K) * 2 + (ky < K && col < N)) {
            case 3: a = A[row * K + kx];  // falls through: both are inside
            case 1: b = B[ky * N + col]; break;
            case 2: a = A[row * K + kx]; break;
            default: break;
        }
        As[threadIdx.y][threadIdx.x] = a;
        Bs[threadIdx.y][threadIdx.x] = b;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
