// How much tiles gain: C = A * B, twice
//
//   A has m rows and k columns, B has k rows and n columns, C has m rows and n columns.
//   All three are stored row by row: the element in row r and column c of A is A[r * k + c].
//
// Keep the names of both kernels and their parameter lists. Both are launched with
//
//   dim3 block(TILE_SIZE, TILE_SIZE);
//   dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
//
// and you may change TILE_SIZE (at most 32: a block has at most 1024 threads).

#define TILE_SIZE 16

__global__ void naiveMatMul(float* A, float* B, float* C, int m, int n, int k) {
    // TODO: one thread per element of C, every operand from global memory.
}

__global__ void tiledMatMul(float* A, float* B, float* C, int m, int n, int k) {
    // TODO: the same through tiles in shared memory.
}
