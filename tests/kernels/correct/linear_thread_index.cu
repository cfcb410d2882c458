// style: one-dimensional thread number, split up again by hand
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    const int r = tid / TILE_SIZE;
    const int c = tid % TILE_SIZE;
    const int row = blockIdx.y * TILE_SIZE + r;
    const int col = blockIdx.x * TILE_SIZE + c;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        (&As[0][0])[tid] = (row < M && t * TILE_SIZE + c < K) ? A[row * K + t * TILE_SIZE + c] : 0.0f;
        (&Bs[0][0])[tid] = (t * TILE_SIZE + r < K && col < N) ? B[(t * TILE_SIZE + r) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) sum += As[r][k] * Bs[k][c];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
