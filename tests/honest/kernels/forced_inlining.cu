// style: helpers never and always inlined
__device__ __noinline__ float from(const float* p, int r, int c, int rows, int columns) {
    return r < rows && c < columns ? p[r * columns + c] : 0.0f;
}
__device__ __forceinline__ void add(float& sum, float a, float b) { sum += a * b; }
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = from(A, row, kx, M, K);
        Bs[ty][tx] = from(B, ky, col, K, N);
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) add(sum, As[ty][k], Bs[k][tx]);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
