// style: classes with private members, operators and inheritance
class Matrix {
    const float* data;
    int rows, columns;

  protected:
    __device__ bool inside(int r, int c) const { return r < rows && c < columns; }

  public:
    __device__ Matrix(const float* d, int r, int c) : data(d), rows(r), columns(c) {}
    __device__ float operator()(int r, int c) const { return inside(r, c) ? data[r * columns + c] : 0.0f; }
};
class Named : public Matrix {
  public:
    using Matrix::Matrix;
    __device__ ~Named() {}
};
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    Named a(A, M, K), b(B, K, N);
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = a(row, kx);
        Bs[ty][tx] = b(ky, col);
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
