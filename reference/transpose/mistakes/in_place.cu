#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transpose(float* input, float* output, int M, int N) {
    const int column = blockIdx.x * TILE_DIM + threadIdx.x;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) {
        const int row = blockIdx.y * TILE_DIM + threadIdx.y + j;
        if (row < M && column < N && row < column) {
            const float above = input[row * N + column];
            input[row * N + column] = input[column * N + row];
            input[column * N + row] = above;
        }
    }
}
