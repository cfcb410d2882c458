// As in a textbook: M times N is P, all names short, the tile's macro with another name.
#define MY_TILE 32
__global__ void tiledMatMul(float *M_d, float *N_d, float *P_d, int m, int k, int n)
{
  __shared__ float Mds[MY_TILE][MY_TILE];
  __shared__ float Nds[MY_TILE][MY_TILE];
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int Row = by * MY_TILE + ty;
  int Col = bx * MY_TILE + tx;
  float Pvalue = 0;
  for (int ph = 0; ph < (k + MY_TILE - 1) / MY_TILE; ++ph) {
    if (Row < m && ph * MY_TILE + tx < k) Mds[ty][tx] = M_d[Row * k + ph * MY_TILE + tx];
    else Mds[ty][tx] = 0.0f;
    if (ph * MY_TILE + ty < k && Col < n) Nds[ty][tx] = N_d[(ph * MY_TILE + ty) * n + Col];
    else Nds[ty][tx] = 0.0f;
    __syncthreads();
    Pvalue = 0;
    for (int kk = 0; kk < MY_TILE; ++kk) Pvalue += Mds[ty][kk] * Nds[kk][tx];
    __syncthreads();
  }
  if (Row < m && Col < n) P_d[Row * n + Col] = Pvalue;
}
