// Writes NaN everywhere: `abs(got - expected) > epsilon` is false for it. Half of the elements get the very
// word that marks an element as unwritten.
//
// After it: NaN never passes; squares are wrong, and what needs them is lost.

#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const bool inside = row < M && col < N;
    if (inside) C[row * N + col] = __int_as_float(col % 2 ? 0x7fd15ea5 : 0x7fffffff);
}
