// Staff only. The model solution: a tile goes through shared memory, so that rows are read and rows are written.
// The column of padding puts the elements of a column of the tile into different banks.

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
    __syncthreads();  // what a thread stores was loaded by others

    const int toColumn = blockIdx.y * TILE_DIM + threadIdx.x;
    const int toRow = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        if (toRow + j < N && toColumn < M) {
            output[(toRow + j) * M + toColumn] = tile[threadIdx.x][threadIdx.y + j];
        }
    }
}
