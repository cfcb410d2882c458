// Running sums: output[r][c] = input[r][0] + input[r][1] + ... + input[r][c]
//
//   input and output have M rows and N columns, stored row by row:
//   the element in row r and column c of input is input[r * N + c].
//
// Keep the kernel's name and its parameter list. The launch has one block for each row:
//
//   dim3 block(BLOCK_SIZE);
//   dim3 grid(M);
//
// and you may change BLOCK_SIZE (at most 1024). A row may be shorter than a block, and much longer.

#define BLOCK_SIZE 256

__global__ void inclusiveScan(const float* input, float* output, int N) {
    // TODO: shared memory for BLOCK_SIZE running sums.

    // TODO: walk along the row, BLOCK_SIZE numbers at a time:
    //         load one number per thread, or 0.0f behind the end of the row;
    //         wait for the others;
    //         let the distance over which you add double from step to step (who has to wait for whom?);
    //         store the running sum, together with what came before this tile.
}
