// style: const __restrict__ pointers, const scalars
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                            const int M, const int K, const int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        const int kx = t * TILE_SIZE + threadIdx.x;
        const int ky = t * TILE_SIZE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < TILE_SIZE; k++) sum = fmaf(As[threadIdx.y][k], Bs[k][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
