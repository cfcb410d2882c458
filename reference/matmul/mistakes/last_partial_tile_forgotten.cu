#define TILE_DIM 16

// computes C = A B, A is M x K, B is K x N
__global__ void tiledMatMul(float* a, float* b, float* c, int m, int k, int n)
{
    __shared__ float aTile[TILE_DIM][TILE_DIM];
    __shared__ float bTile[TILE_DIM][TILE_DIM];

    int row = blockIdx.y * TILE_DIM + threadIdx.y;
    int col = blockIdx.x * TILE_DIM + threadIdx.x;
    float dot = 0.0f;

    int start = 0;
    while (start + TILE_DIM <= k)
    {
        aTile[threadIdx.y][threadIdx.x] = (row < m) ? a[row * k + start + threadIdx.x] : 0.0f;
        bTile[threadIdx.y][threadIdx.x] = (col < n) ? b[(start + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();

        #pragma unroll
        for (int i = 0; i < TILE_DIM; i++)
        {
            dot += aTile[threadIdx.y][i] * bTile[i][threadIdx.x];
        }
        __syncthreads();

        start += TILE_DIM;
    }

    if (row < m && col < n)
    {
        c[row * n + col] = dot;
    }
}
