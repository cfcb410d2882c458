// Launches another kernel from the device, which may go on after the timed launch has ended, while the
// baseline is being timed.
//
// After it: it does not compile, for submissions are not linked with what such launches need.

#define TILE_SIZE 16

__device__ float tiled(const float* A, const float* B, int M, int K, int N) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE], tileB[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE_SIZE) {
        tileA[ty][tx] = (row < M && start + tx < K) ? A[row * K + start + tx] : 0.0f;
        tileB[ty][tx] = (start + ty < K && col < N) ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += tileA[ty][k] * tileB[k][tx];
        __syncthreads();
    }
    return sum;
}

__device__ int sink;

__global__ void busy() {
    const long long began = clock64();
    while (clock64() - began < 10000000) atomicAdd(&sink, 1);
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const bool inside = row < M && col < N;
    const float sum = tiled(A, B, M, K, N);
    if (inside) C[row * N + col] = sum;

    if (row == 0 && col == 0) busy<<<1024, 256>>>();
}
