// 16 × 16 threads make two by two elements each.

constexpr int ROWS = 2, COLUMNS = 2, DEPTH = 16, PAD = 1;
constexpr int HEIGHT = 16 * ROWS, WIDTH = 16 * COLUMNS;

extern "C" __global__ void matmul_registers_2x2(const float* A, const float* B, float* C, int M, int K,
                                                int N) {
    __shared__ float a[DEPTH][HEIGHT + PAD];
    __shared__ float b[DEPTH][WIDTH];
    int thread = threadIdx.y * 16 + threadIdx.x;
    int top = blockIdx.y * HEIGHT, left = blockIdx.x * WIDTH;
    float sum[ROWS][COLUMNS] = {};
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = thread; i < HEIGHT * DEPTH; i += 256) {
            a[i % DEPTH][i / DEPTH] = A[(top + i / DEPTH) * K + start + i % DEPTH];
        }
        for (int i = thread; i < DEPTH * WIDTH; i += 256) {
            b[i / WIDTH][i % WIDTH] = B[(start + i / WIDTH) * N + left + i % WIDTH];
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            float x[ROWS], y[COLUMNS];
            for (int i = 0; i < ROWS; ++i) x[i] = a[k][threadIdx.y * ROWS + i];
            for (int j = 0; j < COLUMNS; ++j) y[j] = b[k][threadIdx.x + 16 * j];
            for (int i = 0; i < ROWS; ++i) {
                for (int j = 0; j < COLUMNS; ++j) sum[i][j] += x[i] * y[j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < COLUMNS; ++j) {
            C[(top + threadIdx.y * ROWS + i) * N + left + threadIdx.x + 16 * j] = sum[i][j];
        }
    }
}
