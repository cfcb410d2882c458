// Square blocks, all constants in one enum.
enum { TILE_DIM = 16, BLOCK_ROWS = 16 };
__global__ void transpose(const float *idata, float *odata, int width, int height) {
  __shared__ float block[TILE_DIM][TILE_DIM + 1];
  int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
  if (x < width && y < height) block[threadIdx.y][threadIdx.x] = idata[y * width + x];
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x;
  y = blockIdx.x * TILE_DIM + threadIdx.y;
  if (x < height && y < width) odata[y * height + x] = block[threadIdx.x][threadIdx.y];
}
