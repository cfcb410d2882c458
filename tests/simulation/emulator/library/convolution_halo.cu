// A 2-D convolution: the tile with its halo is loaded in a loop over more elements than threads.
#define TILE 16
#define R 2
#define SIDE (TILE + 2 * R)
__constant__ float weights[(2 * R + 1) * (2 * R + 1)] = {
    0.5f, -1, 2, -1, 0.5f, 1, 2, -3, 2, 1, 0, 3, 4, 3, 0, 1, 2, -3, 2, 1, 0.5f, -1, 2, -1, 0.5f};

__device__ __forceinline__ int clamped(int i, int n) { return min(max(i, 0), n - 1); }

__global__ void kernel(const float* image, float* result, int width, int height) {
    __shared__ float tile[SIDE][SIDE + 1];
    int left = blockIdx.x * TILE - R, top = blockIdx.y * TILE - R;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < SIDE * SIDE; i += TILE * TILE) {
        int row = i / SIDE, column = i % SIDE;
        tile[row][column] = image[clamped(top + row, height) * width + clamped(left + column, width)];
    }
    __syncthreads();
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
#pragma unroll
    for (int i = 0; i <= 2 * R; ++i)
#pragma unroll
        for (int j = 0; j <= 2 * R; ++j) sum += weights[i * (2 * R + 1) + j] * tile[threadIdx.y + i][threadIdx.x + j];
    result[y * width + x] = sum;
}
