#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    unsigned int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    unsigned int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    float sum = 0.0f;
    for (unsigned int tile = 0; tile < (K + TILE_SIZE - 1) / TILE_SIZE; ++tile) {
        unsigned int a_col = tile * TILE_SIZE + threadIdx.x;
        unsigned int b_row = tile * TILE_SIZE + threadIdx.y;

        if (row < M && a_col < K) {
            A_s[threadIdx.y][threadIdx.x] = A[row * K + a_col];
        } else {
            A_s[threadIdx.y][threadIdx.x] = 0.0f;
        }
        if (b_row < K && col < N) {
            B_s[threadIdx.y][threadIdx.x] = B[b_row * N + col];
        } else {
            B_s[threadIdx.y][threadIdx.x] = 0.0f;
        }
        __syncthreads();

        for (unsigned int i = 0; i < TILE_SIZE; ++i) {
            sum += A_s[threadIdx.y][i] * B_s[i][threadIdx.x];
        }
        __syncthreads();
    }

    C[row * N + col] = sum;
}
