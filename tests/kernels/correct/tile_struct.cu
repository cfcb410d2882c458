// style: a struct in shared memory with member functions
#define TILE_SIZE 16

struct Tile {
    float values[TILE_SIZE][TILE_SIZE];
    __device__ float& mine() { return values[threadIdx.y][threadIdx.x]; }
    __device__ const float* row() const { return values[threadIdx.y]; }
    __device__ float inMyColumn(int k) const { return values[k][threadIdx.x]; }
};

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ Tile a, b;
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    const int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        const int kx = k0 + threadIdx.x, ky = k0 + threadIdx.y;
        a.mine() = row < M && kx < K ? A[row * K + kx] : 0.0f;
        b.mine() = ky < K && col < N ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += a.row()[k] * b.inMyColumn(k);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
