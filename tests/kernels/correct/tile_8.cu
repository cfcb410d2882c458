// style: 8 by 8 tiles from an enum
enum { TILE = 8 };

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int r = threadIdx.y, c = threadIdx.x;
    const int row = blockIdx.y * TILE + r, col = blockIdx.x * TILE + c;
    float s = 0;
    for (int base = 0; base < K; base += TILE) {
        left[r][c] = (row < M) & (base + c < K) ? A[row * K + base + c] : 0;
        right[r][c] = (base + r < K) & (col < N) ? B[(base + r) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k != TILE; ++k) s += left[r][k] * right[k][c];
        __syncthreads();
    }
    if (!(row >= M || col >= N)) C[row * N + col] = s;
}
