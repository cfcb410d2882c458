// style: identifiers beyond ASCII
// Größe einer Kachel; 瓦片大小; размер плитки
#define TILE_SIZE 16
constexpr float Größe_null = 0.0f;
__device__ inline float mal(float α, float β) { return α * β; }

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : Größe_null;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int 指数 = 0; 指数 < TILE_SIZE; ++指数) sum += mal(As[ty][指数], Bs[指数][tx]);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
