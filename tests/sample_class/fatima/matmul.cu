#define TILE_WIDTH 16

__global__ void MatrixMulKernel(float* M, float* N, float* P, int m, int k, int n) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
  int tx = threadIdx.x; int ty = threadIdx.y;
  int Row = blockIdx.y * TILE_WIDTH + ty;
  int Col = blockIdx.x * TILE_WIDTH + tx;
  float Pvalue = 0;
  for (int ph = 0; ph < (k + TILE_WIDTH - 1) / TILE_WIDTH; ++ph) {
    Mds[ty][tx] = (Row < m && ph * TILE_WIDTH + tx < k) ? M[Row * k + ph * TILE_WIDTH + tx] : 0;
    Nds[ty][tx] = (ph * TILE_WIDTH + ty < k && Col < n) ? N[(ph * TILE_WIDTH + ty) * n + Col] : 0;
    __syncthreads();
    for (int i = 0; i < TILE_WIDTH; ++i) Pvalue += Mds[ty][i] * Nds[i][tx];
    __syncthreads();
  }
  if (Row < m && Col < n) P[Row * n + Col] = Pvalue;
}
