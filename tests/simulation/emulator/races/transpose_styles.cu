// Transposing through shared memory, in place and straight.
// launch: grid 1, block 32 8: in float32[32,32], out float32[32,32]

// Fewer threads than elements: each takes four rows.
extern "C" __global__ void racy_four_rows_each(const float* in, float* out) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int r = 0; r < 32; r += 8) tile[y + r][x] = in[(y + r) * 32 + x];  // @fill
    for (int r = 0; r < 32; r += 8) out[(y + r) * 32 + x] = tile[x][y + r];  // race RAW tile @fill
}

extern "C" __global__ void clean_four_rows_each(const float* in, float* out) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int r = 0; r < 32; r += 8) tile[y + r][x] = in[(y + r) * 32 + x];
    __syncthreads();
    for (int r = 0; r < 32; r += 8) out[(y + r) * 32 + x] = tile[x][y + r];
}

// Two rows end in the same column.
extern "C" __global__ void racy_columns_collide(const float* in, float* out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[x * 8 + y / 2] = in[y * 32 + x];  // race WAW out here
}

extern "C" __global__ void clean_columns_collide(const float* in, float* out) {
    int x = threadIdx.x, y = threadIdx.y;
    out[x * 8 + y] = in[y * 32 + x];
}

// In place: one thread of each pair swaps.
// launch: grid 1, block 16 16: inout float32[16,16]
extern "C" __global__ void racy_swap_in_place(float* data) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x != y) {
        float here = data[y * 16 + x];   // @here
        float there = data[x * 16 + y];  // @there
        data[y * 16 + x] = there;        // @to; race WAR data @there
        data[x * 16 + y] = here;         // race WAR data @here; race WAW data @to
    }
}

extern "C" __global__ void clean_swap_in_place(float* data) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < y) {
        float here = data[y * 16 + x];
        float there = data[x * 16 + y];
        data[y * 16 + x] = there;
        data[x * 16 + y] = here;
    }
}

// A tile that is used again for the next part of the matrix.
// launch: grid 1, block 16 16: in float32[16,48], out float32[48,16]
extern "C" __global__ void racy_tile_again(const float* in, float* out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    for (int first = 0; first < 48; first += 16) {
        tile[y][x] = in[y * 48 + first + x];  // race WAR tile @column
        __syncthreads();
        out[(first + y) * 16 + x] = tile[x][y];  // @column
    }
}

extern "C" __global__ void clean_tile_again(const float* in, float* out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    for (int first = 0; first < 48; first += 16) {
        tile[y][x] = in[y * 48 + first + x];
        __syncthreads();
        out[(first + y) * 16 + x] = tile[x][y];
        __syncthreads();
    }
}
