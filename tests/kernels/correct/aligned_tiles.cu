// style: __align__ on the tiles and an aligned pair of operands
#define TILE_SIZE 16

struct __align__(8) Operands {
    float a;
    float b;
};

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ __align__(128) float As[TILE_SIZE][TILE_SIZE];
    __shared__ __align__(128) float Bs[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int kx = t * TILE_SIZE + threadIdx.x;
        int ky = t * TILE_SIZE + threadIdx.y;
        Operands mine = {0.0f, 0.0f};
        if (row < M && kx < K) mine.a = A[row * K + kx];
        if (ky < K && col < N) mine.b = B[ky * N + col];
        As[threadIdx.y][threadIdx.x] = mine.a;
        Bs[threadIdx.y][threadIdx.x] = mine.b;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) {
            Operands p = {As[threadIdx.y][k], Bs[k][threadIdx.x]};
            sum += p.a * p.b;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
