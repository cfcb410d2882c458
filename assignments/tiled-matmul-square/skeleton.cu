// Tiled multiplication of square matrices: P = M * N
//
//   All three have Width rows and Width columns and are stored row by row: the element in row r and column c of M
//   is M[r * Width + c].
//
// Keep the kernel's name and its parameter list. The launch is
//
//   dim3 block(TILE_WIDTH, TILE_WIDTH);
//   dim3 grid((Width + TILE_WIDTH - 1) / TILE_WIDTH, (Width + TILE_WIDTH - 1) / TILE_WIDTH);
//
// and you may change TILE_WIDTH (at most 32: a block has at most 1024 threads).

#define TILE_WIDTH 16

__global__ void tiledMatMulSquare(float* M, float* N, float* P, int Width) {
    // TODO: two shared tiles, one for M and one for N.

    // TODO: which element of P does this thread compute?

    // TODO: for each pair of tiles (how many are there for a width of 34?):
    //         load one element of each, or 0.0f outside the matrix;
    //         wait for the others;
    //         add this tile's products to the running sum;
    //         wait for the others again.

    // TODO: store the sum, if there is such an element.
}
