#define BLOCK_SIZE 16

__global__ void tiledMatMul(const float* __restrict__ A, const float* __restrict__ B,
                            float* __restrict__ C, int M, int K, int N) {
    __shared__ float shA[BLOCK_SIZE * BLOCK_SIZE];
    __shared__ float shB[BLOCK_SIZE * BLOCK_SIZE];
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const int row = blockIdx.y * BLOCK_SIZE + y;
    const int col = blockIdx.x * BLOCK_SIZE + x;
    const int here = y * BLOCK_SIZE + x;

    float total = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BLOCK_SIZE) {
        shA[here] = 0.0f;
        shB[here] = 0.0f;
        if (row < M && k0 + x < K) shA[here] = A[row * K + (k0 + x)];
        if (k0 + y < K && col < N) shB[here] = B[(k0 + y) * K + col];
        __syncthreads();
        for (int i = 0; i < BLOCK_SIZE; i++)
            total += shA[y * BLOCK_SIZE + i] * shB[i * BLOCK_SIZE + x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = total;
}
