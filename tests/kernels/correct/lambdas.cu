// style: lambdas in device code
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int ty = threadIdx.y, tx = threadIdx.x;
    const int row = blockIdx.y * TILE_SIZE + ty;
    const int col = blockIdx.x * TILE_SIZE + tx;
    const auto load = [&](int k0) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    };
    float sum = 0.0f;
    const auto accumulate = [&sum, ty, tx] {
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
    };
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        load(k0);
        __syncthreads();
        accumulate();
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
