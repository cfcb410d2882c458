// Staff only. The baseline for bank conflicts: the model solution with a tile that has no padding, so that the 32
// threads of a warp, which walk down a column of it, all ask the same bank.

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transpose(const float* input, float* output, int M, int N) {
    __shared__ float tile[TILE_DIM][TILE_DIM];

    const int fromColumn = blockIdx.x * TILE_DIM + threadIdx.x;
    const int fromRow = blockIdx.y * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (fromRow + j < M && fromColumn < N) {
            tile[threadIdx.y + j][threadIdx.x] = input[(fromRow + j) * N + fromColumn];
        }
    }
    __syncthreads();  // what a thread stores was loaded by others

    const int toColumn = blockIdx.y * TILE_DIM + threadIdx.x;
    const int toRow = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (toRow + j < N && toColumn < M) {
            output[(toRow + j) * M + toColumn] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
