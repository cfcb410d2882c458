// Staff only. The baseline that tiling is compared with: rows are read, columns are written, and each number of a
// column lies in a sector of its own.

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transpose(const float* input, float* output, int M, int N) {
    const int column = blockIdx.x * TILE_DIM + threadIdx.x;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        const int row = blockIdx.y * TILE_DIM + threadIdx.y + j;
        if (row < M && column < N) {
            output[column * M + row] = input[row * N + column];
        }
    }
}
