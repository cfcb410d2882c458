#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float strip[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        strip[threadIdx.y][threadIdx.x] =
            (row < M && k0 + (int)threadIdx.x < K) ? A[row * K + k0 + threadIdx.x] : 0.0f;
        __syncthreads();
        // B is read along its rows, so that is coalesced anyway
        for (int k = 0; k < TILE_SIZE; ++k)
            if (k0 + k < K && col < N)
                sum += strip[threadIdx.y][k] * B[(k0 + k) * N + col];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
