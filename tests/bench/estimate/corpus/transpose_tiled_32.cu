// A transpose by tiles of 32 × 32 in shared memory.

constexpr int TILE = 32;

extern "C" __global__ void transpose_tiled_32(const float* in, float* out, int W, int H) {
    __shared__ float tile[TILE][TILE];
    int bx = blockIdx.x, by = blockIdx.y;
    int x = bx * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
    if (x < W && y < H) tile[threadIdx.y][threadIdx.x] = in[y * W + x];
    __syncthreads();
    x = by * TILE + threadIdx.x;
    y = bx * TILE + threadIdx.y;
    if (x < H && y < W) out[y * H + x] = tile[threadIdx.x][threadIdx.y];
}
