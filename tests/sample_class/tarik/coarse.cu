// thread coarsening: every thread computes two rows of C that are TILE apart
#define TILE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[2 * TILE][TILE];
    __shared__ float Bs[TILE][TILE];

    int first = blockIdx.y * 2 * TILE;          // half as many block rows have work
    if (first >= M) return;                     // all threads of the block agree

    int upper = first + threadIdx.y;
    int lower = upper + TILE;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sumUpper = 0.0f, sumLower = 0.0f;

    for (int k0 = 0; k0 < K; k0 += TILE) {
        int ka = k0 + threadIdx.x;
        int kb = k0 + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (upper < M && ka < K) ? A[upper * K + ka] : 0.0f;
        As[threadIdx.y + TILE][threadIdx.x] = (lower < M && ka < K) ? A[lower * K + ka] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? B[kb * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float b = Bs[k][threadIdx.x];
            sumUpper += As[threadIdx.y][k] * b;
            sumLower += As[threadIdx.y + TILE][k] * b;
        }
        __syncthreads();
    }
    if (upper < M && col < N) C[upper * N + col] = sumUpper;
    if (lower < M && col < N) C[lower * N + col] = sumLower;
}
