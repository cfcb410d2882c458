#define TILE_WIDTH 16

__global__ void tiledMatMulSquare(float* M, float* N, float* P, int Width) {
    int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    int col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    if (row < Width && col < Width) {
        float value = 0.0f;
        for (int k = 0; k < Width; k++) value += M[row * Width + k] * N[k * Width + col];
        P[row * Width + col] = value;
    }
}
