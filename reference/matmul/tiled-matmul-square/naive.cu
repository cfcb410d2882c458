// Staff only. The baseline that tiling is compared with: one thread per element of P and no shared memory.

#define TILE_WIDTH 16

__global__ void tiledMatMulSquare(const float* M, const float* N, float* P, int Width) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= Width || col >= Width) return;

    float sum = 0.0f;
    for (int k = 0; k < Width; ++k) {
        sum += M[row * Width + k] * N[k * Width + col];
    }
    P[row * Width + col] = sum;
}
