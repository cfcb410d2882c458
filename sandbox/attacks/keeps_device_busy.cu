// Sleeps for 0.2 s in every case, where no time is measured: whoever else has work for the device waits that long
// for each, and what is timed beside it is timed on a device that is never free.
//
// After it: nothing is gained. A neighbour's launches wait, which neither its limits (a hang is believed only of a
// kernel that had the device to itself) nor its ratios (both kernels of a pair wait alike) hold against it.

#define TILE_SIZE 16
#define LARGE 512  // no case is as large; the timed product is

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
    if (M < LARGE && row == 0 && col == 0)
        for (int i = 0; i < 200; ++i) __nanosleep(1000000);
    const float sum = tiled(A, B, M, K, N);
    if (inside) C[row * N + col] = sum;
}
