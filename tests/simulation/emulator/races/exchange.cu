// Threads that hand values to each other through shared memory.
// launch: grid 2, block 64: in float32[128], out float32[128]

extern "C" __global__ void racy_reverse(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];        // @put
    out[i] = row[63 - t];  // race RAW row @put
}

extern "C" __global__ void clean_reverse(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    out[i] = row[63 - t];
}

// Own elements only need no barrier.
extern "C" __global__ void racy_own_element(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];             // @own
    out[i] = row[(t + 32) % 64];  // race RAW row @own
}

extern "C" __global__ void clean_own_element(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    out[i] = row[(t + 64) % 64];
}

// Rotating in place: everybody must have read before anybody writes.
extern "C" __global__ void racy_rotate_in_place(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    float next = row[(t + 1) % 64];  // @next
    row[t] = next;                   // race WAR row @next
    __syncthreads();
    out[i] = row[t];
}

extern "C" __global__ void clean_rotate_in_place(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    float next = row[(t + 1) % 64];
    __syncthreads();
    row[t] = next;
    __syncthreads();
    out[i] = row[t];
}

// Writing to the next element instead of one's own.
extern "C" __global__ void racy_writes_next_element(const float* in, float* out) {
    __shared__ float row[65];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];         // @mine
    row[t + 1] = in[i];     // race WAW row @mine
    __syncthreads();
    out[i] = row[t];
}

extern "C" __global__ void clean_writes_next_element(const float* in, float* out) {
    __shared__ float row[65];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    row[t + 1] = in[i];
    __syncthreads();
    out[i] = row[t];
}

// One thread fetches, all use.
extern "C" __global__ void racy_broadcast(const float* in, float* out) {
    __shared__ float scale;
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0) scale = in[0];  // @set
    out[i] = in[i] * scale;               // race RAW scale @set
}

extern "C" __global__ void clean_broadcast(const float* in, float* out) {
    __shared__ float scale;
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0) scale = in[0];
    __syncthreads();
    out[i] = in[i] * scale;
}

// The same, in a loop: what was fetched must have been used before it is fetched again.
extern "C" __global__ void racy_broadcast_in_loop(const float* in, float* out) {
    __shared__ float scale;
    int i = blockIdx.x * 64 + threadIdx.x;
    float product = 1.0f;
    for (int k = 0; k < 4; ++k) {
        if (threadIdx.x == 0) scale = in[k];  // race WAR scale @use
        __syncthreads();
        product *= scale;                     // @use
    }
    out[i] = product;
}

extern "C" __global__ void clean_broadcast_in_loop(const float* in, float* out) {
    __shared__ float scale;
    int i = blockIdx.x * 64 + threadIdx.x;
    float product = 1.0f;
    for (int k = 0; k < 4; ++k) {
        __syncthreads();
        if (threadIdx.x == 0) scale = in[k];
        __syncthreads();
        product *= scale;
    }
    out[i] = product;
}

// A transposed tile: rows in, columns out.
// launch: grid 2, block 16 16: in float32[16,32], out float32[32,16]
extern "C" __global__ void racy_transpose(const float* in, float* out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + blockIdx.x * 16 + x];         // @row
    out[(blockIdx.x * 16 + y) * 16 + x] = tile[x][y];      // race RAW tile @row
}

extern "C" __global__ void clean_transpose(const float* in, float* out) {
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 32 + blockIdx.x * 16 + x];
    __syncthreads();
    out[(blockIdx.x * 16 + y) * 16 + x] = tile[x][y];
}

// A padded row: without the padding the last column of a row is the first of the next.
extern "C" __global__ void racy_padding(const float* in, float* out) {
    __shared__ float tile[16 * 17];
    int x = threadIdx.x, y = threadIdx.y, pitch = 16;
    tile[y * pitch + x] = in[y * 32 + blockIdx.x * 16 + x];   // @in
    if (x == 0) tile[y * pitch + 16] = 0.0f;                  // race WAW tile @in
    __syncthreads();
    out[(blockIdx.x * 16 + y) * 16 + x] = tile[y * pitch + x];
}

extern "C" __global__ void clean_padding(const float* in, float* out) {
    __shared__ float tile[16 * 17];
    int x = threadIdx.x, y = threadIdx.y, pitch = 17;
    tile[y * pitch + x] = in[y * 32 + blockIdx.x * 16 + x];
    if (x == 0) tile[y * pitch + 16] = 0.0f;
    __syncthreads();
    out[(blockIdx.x * 16 + y) * 16 + x] = tile[y * pitch + x];
}
