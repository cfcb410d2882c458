// style: blocks inside the matrix take a path without guards, edge blocks one with guards
#define TILE_SIZE 16

template <bool Guarded>
__device__ __forceinline__ float product(const float* A, const float* B, int M, int K, int N, int row, int col,
                                         float (*As)[TILE_SIZE], float (*Bs)[TILE_SIZE]) {
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        const int kx = k0 + threadIdx.x, ky = k0 + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = !Guarded || (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = !Guarded || (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    return sum;
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const bool inner = K % TILE_SIZE == 0 && (blockIdx.y + 1) * TILE_SIZE <= M && (blockIdx.x + 1) * TILE_SIZE <= N;
    // the condition is the same for the whole block, so the barriers in either path are reached by all
    const float sum = inner ? product<false>(A, B, M, K, N, row, col, As, Bs)
                            : product<true>(A, B, M, K, N, row, col, As, Bs);
    if (row < M && col < N) C[row * N + col] = sum;
}
