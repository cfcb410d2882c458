// style: tile size as const int, if/else guards, (K - 1) / T + 1 tiles
const int TILE_WIDTH = 16;

__global__ void tiledMatMul(float *M_d, float *N_d, float *P_d, int m, int k, int n) {
  __shared__ float Mds[TILE_WIDTH][TILE_WIDTH];
  __shared__ float Nds[TILE_WIDTH][TILE_WIDTH];
  int bx = blockIdx.x, by = blockIdx.y;
  int tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * TILE_WIDTH + ty;
  int Col = bx * TILE_WIDTH + tx;
  float Pvalue = 0;

  for (int ph = 0; ph < (k - 1) / TILE_WIDTH + 1; ++ph) {
    if (Row < m && ph * TILE_WIDTH + tx < k)
      Mds[ty][tx] = M_d[Row * k + ph * TILE_WIDTH + tx];
    else
      Mds[ty][tx] = 0.0;
    if (ph * TILE_WIDTH + ty < k && Col < n)
      Nds[ty][tx] = N_d[(ph * TILE_WIDTH + ty) * n + Col];
    else
      Nds[ty][tx] = 0.0;
    __syncthreads();

    for (int i = 0; i < TILE_WIDTH; ++i)
      Pvalue += Mds[ty][i] * Nds[i][tx];
    __syncthreads();
  }
  if (Row < m && Col < n)
    P_d[Row * n + Col] = Pvalue;
}
