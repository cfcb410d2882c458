// Blocks are numbered along diagonals, and a swizzle instead of a padding column keeps the banks apart.
#define TILE 16
__global__ void kernel(const int* in, int* out, int side) {
    __shared__ int tile[TILE][TILE];
    int block_y = blockIdx.x, block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
    int x = block_x * TILE + threadIdx.x, y = block_y * TILE + threadIdx.y;
    if (x < side && y < side) tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * side + x];
    __syncthreads();
    x = block_y * TILE + threadIdx.x;
    y = block_x * TILE + threadIdx.y;
    if (x < side && y < side) out[y * side + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}
