#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transpose(const float* input, float* output, int M, int N) {
    __shared__ float tile[TILE_DIM][TILE_DIM + 1];

    const int fromColumn = blockIdx.x * TILE_DIM + threadIdx.x;
    const int fromRow = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (fromRow + j < M && fromColumn < N) {
            tile[threadIdx.y + j][threadIdx.x] = input[(fromRow + j) * N + fromColumn];
        }
    }
    __syncthreads();

    const int toColumn = blockIdx.y * TILE_DIM + threadIdx.x;
    const int toRow = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        {
            output[(toRow + j) * M + toColumn] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
