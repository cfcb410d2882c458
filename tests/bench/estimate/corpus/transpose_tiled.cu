// A transpose by tiles of TILE × TILE in shared memory, whose rows have PAD elements more.

template <int TILE, int PAD>
__device__ __forceinline__ void transpose(const float* in, float* out, int W, int H) {
    __shared__ float tile[TILE][TILE + PAD];
    int bx = blockIdx.x, by = blockIdx.y;
    int x = bx * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
    if (x < W && y < H) tile[threadIdx.y][threadIdx.x] = in[y * W + x];
    __syncthreads();
    x = by * TILE + threadIdx.x;
    y = bx * TILE + threadIdx.y;
    if (x < H && y < W) out[y * H + x] = tile[threadIdx.x][threadIdx.y];
}

#define TRANSPOSE(name, ...)                                                                \
    extern "C" __global__ void name(const float* in, float* out, int W, int H) {            \
        transpose<__VA_ARGS__>(in, out, W, H);                                              \
    }

TRANSPOSE(transpose_tiled_16, 16, 0)
TRANSPOSE(transpose_tiled_16_padded, 16, 1)
TRANSPOSE(transpose_tiled_32, 32, 0)
TRANSPOSE(transpose_tiled_32_padded, 32, 1)
