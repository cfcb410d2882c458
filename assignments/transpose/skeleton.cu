// Transposition of a matrix: output[c][r] = input[r][c]
//
//   input has M rows and N columns, output has N rows and M columns, both stored row by row:
//   the element in row r and column c of input is input[r * N + c].
//
// Keep the kernel's name and its parameter list. The launch is
//
//   dim3 block(TILE_DIM, BLOCK_ROWS);
//   dim3 grid((N + TILE_DIM - 1) / TILE_DIM, (M + TILE_DIM - 1) / TILE_DIM);
//
// so that each thread moves TILE_DIM / BLOCK_ROWS numbers. You may change both values, as long as BLOCK_ROWS
// divides TILE_DIM and TILE_DIM * BLOCK_ROWS is at most 1024.

#define TILE_DIM 32
#define BLOCK_ROWS 8

__global__ void transpose(const float* input, float* output, int M, int N) {
    // TODO: a tile in shared memory.

    // TODO: load it, row by row: which rows of the input does this thread read?

    // TODO: wait for the others.

    // TODO: store it, row by row of the output: which block of the output is it, and which element of the tile
    //       belongs to this thread now?
}
