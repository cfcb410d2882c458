// Transposes of floats and doubles, gathers and scatters, rows of a table.

#define PLANE const float *in, float *out, int W, int H

__global__ void flip_basic(PLANE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) out[x * H + y] = in[y * W + x];
}

// x runs along the rows of the result: stores stay together, loads do not.
__global__ void flip_stores_rows(PLANE) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    int x = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) out[x * H + y] = in[y * W + x];
}

// Eight elements of a column to a thread, all loaded before one is stored.
__global__ void flip_eight(PLANE) {
    int x = blockIdx.x * 32 + threadIdx.x, top = blockIdx.y * 32 + threadIdx.y;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = in[(top + 4 * k) * W + x];
#pragma unroll
    for (int k = 0; k < 8; k++) out[x * H + top + 4 * k] = v[k];
}

__global__ void flip_tile_16(PLANE) {
    __shared__ float tile[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.x][threadIdx.y] = in[y * W + x];
    __syncthreads();
    out[(blockIdx.x * 16 + threadIdx.y) * H + blockIdx.y * 16 + threadIdx.x] = tile[threadIdx.y][threadIdx.x];
}

// Two tiles of 32 x 32 under each other, 32 x 16 threads.
__global__ void flip_tall(PLANE) {
    __shared__ float tile[64][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 64 + threadIdx.y;
    for (int k = 0; k < 64; k += 16) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * W + x];
    __syncthreads();
    int to = blockIdx.y * 64 + threadIdx.x;
    for (int k = 0; k < 32; k += 16) {
        float* row = out + (blockIdx.x * 32 + threadIdx.y + k) * H + to;
        row[0] = tile[threadIdx.x][threadIdx.y + k];
        row[32] = tile[threadIdx.x + 32][threadIdx.y + k];
    }
}

// Blocks follow the diagonals, as against partition camping.
__global__ void flip_diagonal(PLANE) {
    __shared__ float tile[32][33];
    int bid = blockIdx.x + gridDim.x * blockIdx.y;
    int by = bid % gridDim.y, bx = (bid / gridDim.y + by) % gridDim.x;
    int x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * W + x];
    __syncthreads();
    x = by * 32 + threadIdx.x;
    y = bx * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * H + x] = tile[threadIdx.x][threadIdx.y + k];
}

// A thread transposes 4 x 4 in registers: float4 in, float4 out.
__global__ void flip_four_by_four(PLANE) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, y = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    if (x >= W || y >= H) return;
    float4 r0 = *(const float4*)&in[y * W + x], r1 = *(const float4*)&in[(y + 1) * W + x];
    float4 r2 = *(const float4*)&in[(y + 2) * W + x], r3 = *(const float4*)&in[(y + 3) * W + x];
    *(float4*)&out[x * H + y] = make_float4(r0.x, r1.x, r2.x, r3.x);
    *(float4*)&out[(x + 1) * H + y] = make_float4(r0.y, r1.y, r2.y, r3.y);
    *(float4*)&out[(x + 2) * H + y] = make_float4(r0.z, r1.z, r2.z, r3.z);
    *(float4*)&out[(x + 3) * H + y] = make_float4(r0.w, r1.w, r2.w, r3.w);
}

#define DOUBLE_PLANE const double *in, double *out, int W, int H

__global__ void flip_doubles(DOUBLE_PLANE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) out[x * H + y] = in[y * W + x];
}

template <int PAD>
__device__ void flip_doubles_tiled(DOUBLE_PLANE) {
    __shared__ double tile[32][32 + PAD];
    int left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y) tile[k][threadIdx.x] = in[(top + k) * W + left + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += blockDim.y) out[(left + k) * H + top + threadIdx.x] = tile[threadIdx.x][k];
}

__global__ void flip_doubles_tile(DOUBLE_PLANE) { flip_doubles_tiled<0>(in, out, W, H); }
__global__ void flip_doubles_pad(DOUBLE_PLANE) { flip_doubles_tiled<1>(in, out, W, H); }

#define INDEXED const float *in, const int *index, float *out, int n

__global__ void pick(INDEXED) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[index[i]];
}

__global__ void pick_stride(INDEXED) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[index[i]];
}

// Four indices at once, then four loads.
__global__ void pick_four(INDEXED) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * q >= n) return;
    int4 at = ((const int4*)index)[q];
    ((float4*)out)[q] = make_float4(in[at.x], in[at.y], in[at.z], in[at.w]);
}

__global__ void put(INDEXED) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[index[i]] = in[i];
}

__global__ void put_four_apart(INDEXED) {
    int quarter = n / 4, i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quarter) return;
#pragma unroll
    for (int k = 0; k < 4; k++) out[index[i + k * quarter]] = in[i + k * quarter];
}

// Rows of 64 floats of a table of 20000, in the order of a list.
#define TABLE const float *table, const int *rows, float *out, int n

__global__ void rows_thread(TABLE) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    const float* from = table + rows[r] % 20000 * 64;
    for (int c = 0; c < 64; c++) out[r * 64 + c] = from[c];
}

__global__ void rows_element(TABLE) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * 64) out[i] = table[rows[i / 64] % 20000 * 64 + i % 64];
}

__global__ void rows_block(TABLE) {
    int r = blockIdx.x;
    out[r * 64 + threadIdx.x] = table[rows[r] % 20000 * 64 + threadIdx.x];
}

__global__ void rows_vector(TABLE) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = i / 16, q = i % 16;
    if (r < n) ((float4*)out)[i] = ((const float4*)table)[rows[r] % 20000 * 16 + q];
}
