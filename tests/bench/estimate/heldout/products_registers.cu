// Products whose threads make blocks of elements in registers.

#define PRODUCT(name) \
    extern "C" __global__ void name(const float* A, const float* B, float* C, int M, int K, int N)
#define ARGUMENTS A, B, C, M, K, N

// TX × TY threads make ROWS × COLUMNS elements each; neighbours are neighbours in memory.
template <int TX, int TY, int ROWS, int COLUMNS, int DEPTH>
__device__ void made(const float* A, const float* B, float* C, int M, int K, int N) {
    constexpr int HEIGHT = TY * ROWS, WIDTH = TX * COLUMNS, THREADS = TX * TY;
    __shared__ float a[HEIGHT][DEPTH];
    __shared__ float b[DEPTH][WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * TX + tx;
    int top = blockIdx.y * HEIGHT, left = blockIdx.x * WIDTH;
    float sum[ROWS][COLUMNS] = {};
    for (int start = 0; start < K; start += DEPTH) {
        for (int i = thread; i < HEIGHT * DEPTH; i += THREADS) {
            int y = i / DEPTH, x = i % DEPTH;
            a[y][x] = top + y < M && start + x < K ? A[(top + y) * K + start + x] : 0.0f;
        }
        for (int i = thread; i < DEPTH * WIDTH; i += THREADS) {
            int y = i / WIDTH, x = i % WIDTH;
            b[y][x] = start + y < K && left + x < N ? B[(start + y) * N + left + x] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float u[ROWS], v[COLUMNS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) u[r] = a[ty + r * TY][k];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) v[c] = b[k][tx + c * TX];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) sum[r][c] += u[r] * v[c];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            int row = top + ty + r * TY, column = left + tx + c * TX;
            if (row < M && column < N) C[row * N + column] = sum[r][c];
        }
    }
}

PRODUCT(made_3x3) { made<16, 16, 3, 3, 16>(ARGUMENTS); }
PRODUCT(made_2x8) { made<16, 16, 2, 8, 16>(ARGUMENTS); }
PRODUCT(made_8x2) { made<16, 16, 8, 2, 16>(ARGUMENTS); }
PRODUCT(made_4x8_shallow) { made<16, 16, 4, 8, 8>(ARGUMENTS); }
PRODUCT(made_6x6) { made<16, 16, 6, 6, 8>(ARGUMENTS); }
PRODUCT(made_4x4_small) { made<8, 8, 4, 4, 8>(ARGUMENTS); }
PRODUCT(made_4x4_wide) { made<32, 8, 4, 4, 16>(ARGUMENTS); }
extern "C" __global__ void __launch_bounds__(256, 4)
    made_6x6_bounded(const float* A, const float* B, float* C, int M, int K, int N) {
    made<16, 16, 6, 6, 8>(ARGUMENTS);
}

// Eight by eight elements of a thread, everything four at a time; A is transposed on its way.
PRODUCT(made_8x8_vector) {
    __shared__ float4 a[8][32];
    __shared__ float4 b[8][32];
    int thread = threadIdx.y * 16 + threadIdx.x, tx = threadIdx.x, ty = threadIdx.y;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    float sum[8][8] = {};
    float* turned = (float*)a;
    for (int start = 0; start < K; start += 8) {
        int y = thread / 2, x = thread % 2 * 4;
        float4 part = *(const float4*)(A + (top + y) * K + start + x);
        turned[x * 128 + y] = part.x;
        turned[(x + 1) * 128 + y] = part.y;
        turned[(x + 2) * 128 + y] = part.z;
        turned[(x + 3) * 128 + y] = part.w;
        b[thread / 32][thread % 32] = *(const float4*)(B + (start + thread / 32) * N + left + thread % 32 * 4);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 u0 = a[k][2 * ty], u1 = a[k][2 * ty + 1], v0 = b[k][tx], v1 = b[k][tx + 16];
            float u[8] = {u0.x, u0.y, u0.z, u0.w, u1.x, u1.y, u1.z, u1.w};
            float v[8] = {v0.x, v0.y, v0.z, v0.w, v1.x, v1.y, v1.z, v1.w};
#pragma unroll
            for (int r = 0; r < 8; r++) {
#pragma unroll
                for (int c = 0; c < 8; c++) sum[r][c] += u[r] * v[c];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        float* to = C + (top + 8 * ty + r) * N + left + 4 * tx;
        *(float4*)to = make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
        *(float4*)(to + 64) = make_float4(sum[r][4], sum[r][5], sum[r][6], sum[r][7]);
    }
}
