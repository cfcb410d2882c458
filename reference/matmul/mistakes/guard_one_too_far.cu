#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float aShared[TILE_SIZE][TILE_SIZE];
    __shared__ float bShared[TILE_SIZE][TILE_SIZE];

    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float acc = 0.0f;

    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int ka = t * TILE_SIZE + threadIdx.x;
        int kb = t * TILE_SIZE + threadIdx.y;

        // outside of the matrix: zero
        if (row > M || ka > K) {
            aShared[threadIdx.y][threadIdx.x] = 0.0f;
        } else {
            aShared[threadIdx.y][threadIdx.x] = A[row * K + ka];
        }
        if (kb > K || col > N) {
            bShared[threadIdx.y][threadIdx.x] = 0.0f;
        } else {
            bShared[threadIdx.y][threadIdx.x] = B[kb * N + col];
        }
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; i++) {
            acc += aShared[threadIdx.y][i] * bShared[i][threadIdx.x];
        }
        __syncthreads();
    }

    if (row < M && col < N) {
        C[row * N + col] = acc;
    }
}
