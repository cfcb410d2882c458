/* style: C89, all variables declared at the top and set later */
#define TILE_SIZE 16

__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N)
{
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int row, col, t, k, kx, ky, tiles;
    float sum, a, b;

    row = blockIdx.y * TILE_SIZE + threadIdx.y;
    col = blockIdx.x * TILE_SIZE + threadIdx.x;
    tiles = (K + TILE_SIZE - 1) / TILE_SIZE;
    sum = 0;
    for (t = 0; t < tiles; t++) {
        kx = t * TILE_SIZE + threadIdx.x;
        ky = t * TILE_SIZE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = 0;
        Bs[threadIdx.y][threadIdx.x] = 0;
        if (row < M && kx < K) {
            a = A[row * K + kx];
            As[threadIdx.y][threadIdx.x] = a;
        }
        if (ky < K && col < N) {
            b = B[ky * N + col];
            Bs[threadIdx.y][threadIdx.x] = b;
        }
        __syncthreads();
        for (k = 0; k < TILE_SIZE; k++) {
            a = As[threadIdx.y][k];
            b = Bs[k][threadIdx.x];
            sum += a * b;
        }
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
