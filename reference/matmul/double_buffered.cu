// Staff only. Right with one barrier per phase: two pairs of tiles take turns. While a phase computes from one
// pair, nobody writes to it; the next phase fills the other. The barrier at the head of phase p + 1 keeps a
// thread that would refill pair p & 1 in phase p + 2 behind everybody who still reads it in phase p.
// It shows that the number of barriers in a file decides nothing.

#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[2][TILE_SIZE][TILE_SIZE];
    __shared__ float tileB[2][TILE_SIZE][TILE_SIZE];

    const int ty = threadIdx.y;
    const int tx = threadIdx.x;
    const int row = blockIdx.y * TILE_SIZE + ty;
    const int col = blockIdx.x * TILE_SIZE + tx;

    float sum = 0.0f;
    int pair = 0;
    for (int start = 0; start < K; start += TILE_SIZE) {
        tileA[pair][ty][tx] = (row < M && start + tx < K) ? A[row * K + start + tx] : 0.0f;
        tileB[pair][ty][tx] = (start + ty < K && col < N) ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE_SIZE; ++k) {
            sum += tileA[pair][ty][k] * tileB[pair][k][tx];
        }
        pair ^= 1;
    }

    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}
