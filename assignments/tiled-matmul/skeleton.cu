// Tiled matrix multiplication: C = A * B
//
//   A has M rows and K columns, B has K rows and N columns, C has M rows and N columns.
//   All three are stored row by row: the element in row r and column c of A is A[r * K + c].
//
// Keep the kernel's name and its parameter list. The launch is
//
//   dim3 block(TILE_SIZE, TILE_SIZE);
//   dim3 grid((N + TILE_SIZE - 1) / TILE_SIZE, (M + TILE_SIZE - 1) / TILE_SIZE);
//
// and you may change TILE_SIZE (at most 32: a block has at most 1024 threads).

#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    // TODO: two shared tiles, one for A and one for B.

    // TODO: which element of C does this thread compute?

    // TODO: walk along K one tile at a time (how many tiles are there?):
    //         load one element of each tile, or 0.0f outside the matrix;
    //         wait for the others;
    //         add this tile's products to the running sum;
    //         wait for the others again.

    // TODO: store the sum, if there is such an element.
}
