// The same with rows of one element more.

constexpr int TILE = 32;

extern "C" __global__ void transpose_coarsened_padded(const float* in, float* out, int W, int H) {
    __shared__ float tile[TILE][TILE + 1];
    int bx = blockIdx.x, by = blockIdx.y;
    int x = bx * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += 8) {
        if (x < W && y + i < H) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * W + x];
    }
    __syncthreads();
    x = by * TILE + threadIdx.x;
    y = bx * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += 8) {
        if (x < H && y + i < W) out[(y + i) * H + x] = tile[threadIdx.x][threadIdx.y + i];
    }
}
