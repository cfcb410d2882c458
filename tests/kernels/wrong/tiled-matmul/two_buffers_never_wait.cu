#define TILE_SIZE 16
#define AT(m, r, c, ld) (m)[(r) * (ld) + (c)]
// double buffering
__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float as[2][TILE_SIZE][TILE_SIZE + 1];
    __shared__ float bs[2][TILE_SIZE][TILE_SIZE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    int tiles = (K + TILE_SIZE - 1) / TILE_SIZE;
    float acc = 0.0f;
    int cur = 0;
    as[cur][ty][tx] = (row < M && tx < K) ? AT(A, row, tx, K) : 0.0f;
    bs[cur][ty][tx] = (ty < K && col < N) ? AT(B, ty, col, N) : 0.0f;
    __syncthreads();
    for (int t = 1; t <= tiles; ++t) {
        int nxt = cur ^ 1;
        if (t < tiles) {
            int ka = t * TILE_SIZE + tx;
            int kb = t * TILE_SIZE + ty;
            as[nxt][ty][tx] = (row < M && ka < K) ? AT(A, row, ka, K) : 0.0f;
            bs[nxt][ty][tx] = (kb < K && col < N) ? AT(B, kb, col, N) : 0.0f;
        }
#pragma unroll
        for (int k = 0; k < TILE_SIZE; ++k)
            acc += as[cur][ty][k] * bs[cur][k][tx];
        cur = nxt;
    }
    if (row < M && col < N)
        AT(C, row, col, N) = acc;
}
