// Has an array of 32 KiB per thread, for which the device must set memory aside for every thread that it can
// hold: some 9 GB on a device with 132 multiprocessors, in each process that launches it.
//
// After it: no cheat in effect. The kernel is right, nothing is refused, and the memory is free again when
// its process ends.

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

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const bool inside = row < M && col < N;
    float sum = tiled(A, B, M, K, N);
    if (K < 0) {  // never, which the compiler cannot know
        float mine[8192];
        for (int i = 0; i < -K; ++i) mine[(i * 7) % 8192] = sum + i;
        for (int i = 0; i < -K; ++i) sum += mine[(i * i) & 8191];
    }
    if (inside) C[row * N + col] = sum;
}
