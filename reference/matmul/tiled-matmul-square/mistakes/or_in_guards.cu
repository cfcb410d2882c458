#define TILE_WIDTH 16

__global__ void tiledMatMulSquare(float* M, float* N, float* P, int Width) {
    __shared__ float s_M[TILE_WIDTH][TILE_WIDTH];
    __shared__ float s_N[TILE_WIDTH][TILE_WIDTH];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_WIDTH + ty;
    int col = blockIdx.x * TILE_WIDTH + tx;
    float value = 0.0f;
    int numTiles = (Width + TILE_WIDTH - 1) / TILE_WIDTH;

    for (int t = 0; t < numTiles; t++) {
        int mCol = t * TILE_WIDTH + tx;
        int nRow = t * TILE_WIDTH + ty;
        s_M[ty][tx] = (row < Width || mCol < Width) ? M[row * Width + mCol] : 0.0f;
        s_N[ty][tx] = (nRow < Width || col < Width) ? N[nRow * Width + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE_WIDTH; k++) {
            value += s_M[ty][k] * s_N[k][tx];
        }
        __syncthreads();
    }

    if (row < Width && col < Width) {
        P[row * Width + col] = value;
    }
}
