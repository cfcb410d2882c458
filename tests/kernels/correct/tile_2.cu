// style: 2 by 2 tiles as in the worked examples, a block is less than a warp
#define TILE_WIDTH 2

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float A_tile[TILE_WIDTH][TILE_WIDTH];
    __shared__ float B_tile[TILE_WIDTH][TILE_WIDTH];
    int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    int col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    float partial = 0.0f;
    for (int phase = 0; phase * TILE_WIDTH < K; ++phase) {
        int k_of_a = phase * TILE_WIDTH + threadIdx.x;
        int k_of_b = phase * TILE_WIDTH + threadIdx.y;
        A_tile[threadIdx.y][threadIdx.x] = (row < M && k_of_a < K) ? A[row * K + k_of_a] : 0.0f;
        B_tile[threadIdx.y][threadIdx.x] = (k_of_b < K && col < N) ? B[k_of_b * N + col] : 0.0f;
        __syncthreads();
        partial += A_tile[threadIdx.y][0] * B_tile[0][threadIdx.x];
        partial += A_tile[threadIdx.y][1] * B_tile[1][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = partial;
}
