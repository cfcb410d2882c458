// 16 × 16 threads make ROWS × COLUMNS elements each, in steps of DEPTH along K. Without PAD there are bank conflicts
// where the tile of A is stored.

template <int ROWS, int COLUMNS, int DEPTH, int PAD>
__device__ __forceinline__ void product(const float* A, const float* B, float* C, int M, int K, int N) {
    constexpr int HEIGHT = 16 * ROWS, WIDTH = 16 * COLUMNS;
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

#define PRODUCT(name, ...)                                                                                    \
    extern "C" __global__ void name(const float* A, const float* B, float* C, int M, int K, int N) {          \
        product<__VA_ARGS__>(A, B, C, M, K, N);                                                               \
    }

PRODUCT(matmul_registers_1x2, 1, 2, 16, 1)
PRODUCT(matmul_registers_2x1, 2, 1, 16, 1)
PRODUCT(matmul_registers_2x2, 2, 2, 16, 1)
PRODUCT(matmul_registers_2x4, 2, 4, 16, 1)
PRODUCT(matmul_registers_4x4, 4, 4, 16, 1)
PRODUCT(matmul_registers_4x4_conflicts, 4, 4, 16, 0)
PRODUCT(matmul_registers_4x4_shallow, 4, 4, 4, 1)
PRODUCT(matmul_registers_8x4, 8, 4, 16, 1)
PRODUCT(matmul_registers_8x8, 8, 8, 8, 1)
