#define TILE_SIZE 16
// 1D thread index, flat tiles, walking pointers
__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float sA[TILE_SIZE * TILE_SIZE];
    __shared__ float sB[TILE_SIZE * TILE_SIZE];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int r = tid / TILE_SIZE;
    const int c = tid % TILE_SIZE;
    const int row = blockIdx.y * TILE_SIZE + r;
    const int col = blockIdx.x * TILE_SIZE + c;
    const float* pa = A + row * K + c;
    const float* pb = B + r * N + col;
    float acc = 0.0f;
    int left = K;
    while (left > 0) {
        sA[tid] = (row < M && c < left) ? *pa : 0.0f;
        sB[tid] = (r < left && col < N) ? *pb : 0.0f;
        __syncthreads();
        const float* x = sA + r * TILE_SIZE;
        const float* y = sB + c;
        for (int k = 0; k < TILE_SIZE; ++k, ++x, y += TILE_SIZE) {
            acc += *x * *y;
        }
        __syncthreads();
        pb += TILE_SIZE * N;
        left -= TILE_SIZE;
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
