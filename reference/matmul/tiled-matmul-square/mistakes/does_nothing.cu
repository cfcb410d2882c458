#define TILE_WIDTH 16

__global__ void tiledMatMulSquare(float* M, float* N, float* P, int Width) {
}
