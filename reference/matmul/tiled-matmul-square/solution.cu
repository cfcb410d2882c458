// Staff only. The model solution: one pair of tiles in shared memory, two barriers per phase, three guards.

#define TILE_WIDTH 16

__global__ void tiledMatMulSquare(const float* M, const float* N, float* P, int Width) {
    __shared__ float tileM[TILE_WIDTH][TILE_WIDTH];
    __shared__ float tileN[TILE_WIDTH][TILE_WIDTH];

    const int row = blockIdx.y * TILE_WIDTH + threadIdx.y;
    const int col = blockIdx.x * TILE_WIDTH + threadIdx.x;
    const int phases = (Width + TILE_WIDTH - 1) / TILE_WIDTH;

    float sum = 0.0f;
    for (int phase = 0; phase < phases; ++phase) {
        const int innerM = phase * TILE_WIDTH + threadIdx.x;
        const int innerN = phase * TILE_WIDTH + threadIdx.y;
        tileM[threadIdx.y][threadIdx.x] = (row < Width && innerM < Width) ? M[row * Width + innerM] : 0.0f;
        tileN[threadIdx.y][threadIdx.x] = (innerN < Width && col < Width) ? N[innerN * Width + col] : 0.0f;
        __syncthreads();  // the tiles are complete before anybody reads them

        for (int k = 0; k < TILE_WIDTH; ++k) {
            sum += tileM[threadIdx.y][k] * tileN[k][threadIdx.x];
        }
        __syncthreads();  // everybody has read them before anybody writes the next ones
    }

    if (row < Width && col < Width) {
        P[row * Width + col] = sum;
    }
}
