#define TILE_SIZE 16

// dst = lhs * rhs
__global__ void tiledMatMul(float* dst, const float* lhs, const float* rhs, int rows, int inner, int cols) {
    __shared__ float l[TILE_SIZE][TILE_SIZE];
    __shared__ float r[TILE_SIZE][TILE_SIZE];
    int y = blockIdx.y * TILE_SIZE + threadIdx.y;
    int x = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    for (int k0 = 0; k0 < inner; k0 += TILE_SIZE) {
        int kx = k0 + threadIdx.x;
        int ky = k0 + threadIdx.y;
        l[threadIdx.y][threadIdx.x] = (y < rows && kx < inner) ? lhs[y * inner + kx] : 0.0f;
        r[threadIdx.y][threadIdx.x] = (ky < inner && x < cols) ? rhs[ky * cols + x] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) sum += l[threadIdx.y][k] * r[k][threadIdx.x];
        __syncthreads();
    }
    if (y < rows && x < cols) dst[y * cols + x] = sum;
}
