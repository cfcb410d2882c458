#define TILE_WIDTH 32

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float A_s[TILE_WIDTH][TILE_WIDTH + 1];
    __shared__ float B_s[TILE_WIDTH][TILE_WIDTH + 1];
    unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (unsigned tile = 0; tile < (K + TILE_WIDTH - 1) / TILE_WIDTH; ++tile) {
        unsigned ak = tile * TILE_WIDTH + threadIdx.x;
        unsigned bk = tile * TILE_WIDTH + threadIdx.y;
        A_s[threadIdx.y][threadIdx.x] = row < M && ak < K ? A[row * K + ak] : 0.0f;
        B_s[threadIdx.y][threadIdx.x] = bk < K && col < N ? B[bk * N + col] : 0.0f;
        __syncthreads();
        for (unsigned i = 0; i < TILE_WIDTH; ++i) sum += A_s[threadIdx.y][i] * B_s[i][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
