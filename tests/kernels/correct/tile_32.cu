// style: 32 by 32 tiles, a whole warp per row
#define TILE_WIDTH 32

__global__ void tiledMatMul(float *A, float *B, float *C, int M, int K, int N) {
    __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
    __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];
    int Row = blockIdx.y * blockDim.y + threadIdx.y;
    int Col = blockIdx.x * blockDim.x + threadIdx.x;
    float acc = 0.0;
    for (int t = 0; t < ceil(K / (float)TILE_WIDTH); ++t) {
        int kA = t * TILE_WIDTH + threadIdx.x, kB = t * TILE_WIDTH + threadIdx.y;
        ds_A[threadIdx.y][threadIdx.x] = (Row < M && kA < K) ? A[Row * K + kA] : 0;
        ds_B[threadIdx.y][threadIdx.x] = (Col < N && kB < K) ? B[kB * N + Col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE_WIDTH; ++i) acc += ds_A[threadIdx.y][i] * ds_B[i][threadIdx.x];
        __syncthreads();
    }
    if (Row < M && Col < N) C[Row * N + Col] = acc;
}
