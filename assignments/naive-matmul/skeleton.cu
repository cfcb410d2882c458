// Matrix multiplication, one thread per element: C = A * B
//
//   A has M rows and K columns, B has K rows and N columns, C has M rows and N columns.
//   All three are stored row by row: the element in row r and column c of A is A[r * K + c].
//
// Keep the kernel's name and its parameter list. The launch is
//
//   dim3 block(BLOCK_SIZE, BLOCK_SIZE);
//   dim3 grid((N + BLOCK_SIZE - 1) / BLOCK_SIZE, (M + BLOCK_SIZE - 1) / BLOCK_SIZE);
//
// and you may change BLOCK_SIZE (at most 32: a block has at most 1024 threads).

#define BLOCK_SIZE 16

__global__ void naiveMatMul(float* A, float* B, float* C, int M, int K, int N) {
    // TODO: which row and which column of C does this thread compute?

    // TODO: the grid is rounded up. What must a thread do that has no element?

    // TODO: add up the K products of that row of A and that column of B, then store the sum.
}
