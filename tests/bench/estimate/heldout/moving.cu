// Transposes, and records of eight numbers in two layouts.

#define TURN(name) extern "C" __global__ void name(const float* in, float* out, int W, int H)

TURN(turn_naive) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < W && row < H) out[column * H + row] = in[row * W + column];
}

// A thread moves a whole row.
TURN(turn_rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= H) return;
    for (int column = 0; column < W; column++) out[column * H + row] = in[row * W + column];
}

// Tiles of EDGE × EDGE by EDGE × LINES threads.
template <int EDGE, int LINES, int PAD>
__device__ void turned(const float* in, float* out, int W, int H) {
    __shared__ float tile[EDGE][EDGE + PAD];
    int left = blockIdx.x * EDGE, top = blockIdx.y * EDGE, tx = threadIdx.x;
    for (int y = threadIdx.y; y < EDGE; y += LINES) {
        if (left + tx < W && top + y < H) tile[y][tx] = in[(top + y) * W + left + tx];
    }
    __syncthreads();
    for (int y = threadIdx.y; y < EDGE; y += LINES) {
        if (top + tx < H && left + y < W) out[(left + y) * H + top + tx] = tile[tx][y];
    }
}

TURN(turn_tiles_8) { turned<8, 8, 0>(in, out, W, H); }
TURN(turn_tiles_64) { turned<64, 4, 1>(in, out, W, H); }
TURN(turn_tiles_32_by_2) { turned<32, 2, 1>(in, out, W, H); }

// No padding: columns of a tile are permuted by the row.
TURN(turn_swizzled) {
    __shared__ float tile[32][32];
    int left = blockIdx.x * 32, top = blockIdx.y * 32, tx = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8) tile[y][tx ^ y] = in[(top + y) * W + left + tx];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8) out[(left + y) * H + top + tx] = tile[tx][y ^ tx];
}

// Reads four elements of a row at a time, writes them one by one.
TURN(turn_reads_float4) {
    int column = (blockIdx.x * blockDim.x + threadIdx.x) * 4, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= W || row >= H) return;
    float4 v = *(const float4*)(in + row * W + column);
    out[column * H + row] = v.x;
    out[(column + 1) * H + row] = v.y;
    out[(column + 2) * H + row] = v.z;
    out[(column + 3) * H + row] = v.w;
}

#define RECORDS(name) extern "C" __global__ void name(const float* in, float* out, int n)

RECORDS(records_structures) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[8 * i] * in[8 * i + 3] + in[8 * i + 5];
}

RECORDS(records_vectors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 first = ((const float4*)in)[2 * i], second = ((const float4*)in)[2 * i + 1];
    out[i] = first.x * first.w + second.y;
}

// A block brings its records to shared memory in order.
RECORDS(records_staged) {
    __shared__ float s[2048];
    int first = blockIdx.x * 256, left = min(256, n - first) * 8;
    for (int i = threadIdx.x; i < left; i += 256) s[i] = in[8 * first + i];
    __syncthreads();
    int t = threadIdx.x;
    if (first + t < n) out[first + t] = s[8 * t] * s[8 * t + 3] + s[8 * t + 5];
}

// The other layout: an array for each field.
RECORDS(records_arrays) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * in[3 * n + i] + in[5 * n + i];
}
