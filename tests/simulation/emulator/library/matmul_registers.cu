// Register tiling: a block computes 32 x 32 elements, a thread 4 x 4 of them, eight columns of A at a time.
#define TILE 32
#define DEPTH 8
#define EACH 4
__global__ void kernel(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[DEPTH][TILE + 1], b[DEPTH][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * (TILE / EACH) + tx;
    int top = blockIdx.y * TILE, left = blockIdx.x * TILE;
    float sums[EACH][EACH] = {};
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = t; i < TILE * DEPTH; i += (TILE / EACH) * (TILE / EACH)) {
            int row = i / DEPTH, column = i % DEPTH;
            a[column][row] = top + row < M && start + column < K ? A[(top + row) * K + start + column] : 0.0f;
            row = i / TILE;
            column = i % TILE;
            b[row][column] = start + row < K && left + column < N ? B[(start + row) * N + left + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float of_a[EACH], of_b[EACH];
            for (int i = 0; i < EACH; ++i) {
                of_a[i] = a[k][ty * EACH + i];
                of_b[i] = b[k][tx * EACH + i];
            }
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j) sums[i][j] = fmaf(of_a[i], of_b[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < EACH; ++i) {
        for (int j = 0; j < EACH; ++j) {
            int row = top + ty * EACH + i, column = left + tx * EACH + j;
            if (row < M && column < N) C[row * N + column] = sums[i][j];
        }
    }
}
