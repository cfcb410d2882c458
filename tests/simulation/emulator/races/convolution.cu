// Convolutions and sweeps: halos, weights, ping-pong.
// launch: grid 2, block 64: in float32[132], in float32[9], out float32[128]

// Both ends of the window are fetched by two threads, which need not be those that use them.
extern "C" __global__ void racy_radius_two(const float* in, const float* weights, float* out) {
    __shared__ float window[68];
    int t = threadIdx.x, base = blockIdx.x * 64;
    window[t + 2] = in[base + t + 2];  // @middle
    if (t < 2) {
        window[t] = in[base + t];            // @low
        window[t + 66] = in[base + t + 66];  // @high
    }
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
        float each = window[t + k];  // race RAW window @middle; race warning RAW window @low; race RAW window @high
        sum += weights[k] * each;
    }
    out[base + t] = sum;
}

extern "C" __global__ void clean_radius_two(const float* in, const float* weights, float* out) {
    __shared__ float window[68];
    int t = threadIdx.x, base = blockIdx.x * 64;
    window[t + 2] = in[base + t + 2];
    if (t < 2) {
        window[t] = in[base + t];
        window[t + 66] = in[base + t + 66];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
        float each = window[t + k];
        sum += weights[k] * each;
    }
    out[base + t] = sum;
}

// The weights are shared too, and must be there in time.
extern "C" __global__ void racy_shared_weights(const float* in, const float* weights, float* out) {
    __shared__ float window[68], w[5];
    int t = threadIdx.x, base = blockIdx.x * 64;
    window[t] = in[base + t];
    if (t < 4) window[t + 64] = in[base + t + 64];
    __syncthreads();
    if (t >= 32 && t < 37) w[t - 32] = weights[t - 32];  // @weights
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
        float weight = w[k];  // race RAW w @weights
        sum += weight * window[t + k];
    }
    out[base + t] = sum;
}

extern "C" __global__ void clean_shared_weights(const float* in, const float* weights, float* out) {
    __shared__ float window[68], w[5];
    int t = threadIdx.x, base = blockIdx.x * 64;
    window[t] = in[base + t];
    if (t < 4) window[t + 64] = in[base + t + 64];
    if (t >= 32 && t < 37) w[t - 32] = weights[t - 32];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 5; ++k) {
        float weight = w[k];
        sum += weight * window[t + k];
    }
    out[base + t] = sum;
}

// Within a warp by shuffles; only the edges of warps go through shared memory.
extern "C" __global__ void racy_edges_of_warps(const float* in, const float* weights, float* out) {
    __shared__ float edges[2];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 64 + t;
    float mine = in[i];
    if (lane == 31) edges[warp] = mine;  // @edge
    float left = __shfl_up_sync(~0u, mine, 1);
    if (lane == 0 && warp > 0) left = edges[warp - 1];  // race RAW edges @edge
    out[i] = mine - left;
}

extern "C" __global__ void clean_edges_of_warps(const float* in, const float* weights, float* out) {
    __shared__ float edges[2];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * 64 + t;
    float mine = in[i];
    if (lane == 31) edges[warp] = mine;
    float left = __shfl_up_sync(~0u, mine, 1);
    __syncthreads();
    if (lane == 0 && warp > 0) left = edges[warp - 1];
    out[i] = mine - left;
}

// A tile with a border, filled by a loop over its elements.
// launch: grid 1, block 8 8: in float32[10,10], in float32[9], out float32[8,8]
extern "C" __global__ void racy_bordered_tile(const float* in, const float* weights, float* out) {
    __shared__ float tile[10][10];
    int x = threadIdx.x, y = threadIdx.y, t = y * 8 + x;
    for (int k = t; k < 100; k += 64) tile[k / 10][k % 10] = in[k];  // @fill
    float sum = 0.0f;
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx) sum += weights[3 * dy + dx] * tile[y + dy][x + dx];  // race RAW tile @fill
    out[t] = sum;
}

extern "C" __global__ void clean_bordered_tile(const float* in, const float* weights, float* out) {
    __shared__ float tile[10][10];
    int x = threadIdx.x, y = threadIdx.y, t = y * 8 + x;
    for (int k = t; k < 100; k += 64) tile[k / 10][k % 10] = in[k];
    __syncthreads();
    float sum = 0.0f;
    for (int dy = 0; dy < 3; ++dy)
        for (int dx = 0; dx < 3; ++dx) sum += weights[3 * dy + dx] * tile[y + dy][x + dx];
    out[t] = sum;
}

// Blurring in place: the old values must all have been read.
extern "C" __global__ void racy_blur_in_place(const float* in, const float* weights, float* out) {
    __shared__ float tile[10][10];
    int x = threadIdx.x, y = threadIdx.y, t = y * 8 + x;
    for (int k = t; k < 100; k += 64) tile[k / 10][k % 10] = in[k];
    __syncthreads();
    float up = tile[y][x + 1], down = tile[y + 2][x + 1];  // @old
    float blurred = 0.5f * (up + down);
    tile[y + 1][x + 1] = blurred;  // race WAR tile @old
    __syncthreads();
    out[t] = tile[y + 1][x + 1];
}

extern "C" __global__ void clean_blur_in_place(const float* in, const float* weights, float* out) {
    __shared__ float tile[10][10];
    int x = threadIdx.x, y = threadIdx.y, t = y * 8 + x;
    for (int k = t; k < 100; k += 64) tile[k / 10][k % 10] = in[k];
    __syncthreads();
    float up = tile[y][x + 1], down = tile[y + 2][x + 1];
    float blurred = 0.5f * (up + down);
    __syncthreads();
    tile[y + 1][x + 1] = blurred;
    __syncthreads();
    out[t] = tile[y + 1][x + 1];
}

// Two buffers in turn: one barrier a sweep is enough, and needed.
// launch: grid 1, block 64: in float32[66], out float32[64]
extern "C" __global__ void racy_ping_pong(const float* in, float* out) {
    __shared__ float cells[2][66];
    int t = threadIdx.x;
    for (int k = 0; k < 2; ++k) cells[k][t] = in[t];
    for (int k = 0; k < 2; ++k) if (t < 2) cells[k][t + 64] = in[t + 64];
    __syncthreads();
    for (int sweep = 0; sweep < 4; ++sweep) {
        float sum = cells[sweep % 2][t] + cells[sweep % 2][t + 2];  // race RAW cells @new; @old
        cells[1 - sweep % 2][t + 1] = 0.5f * sum;                   // @new; race WAR cells @old
    }
    __syncthreads();
    out[t] = cells[0][t + 1];
}

extern "C" __global__ void clean_ping_pong(const float* in, float* out) {
    __shared__ float cells[2][66];
    int t = threadIdx.x;
    for (int k = 0; k < 2; ++k) cells[k][t] = in[t];
    for (int k = 0; k < 2; ++k) if (t < 2) cells[k][t + 64] = in[t + 64];
    __syncthreads();
    for (int sweep = 0; sweep < 4; ++sweep) {
        float sum = cells[sweep % 2][t] + cells[sweep % 2][t + 2];
        cells[1 - sweep % 2][t + 1] = 0.5f * sum;
        __syncthreads();
    }
    __syncthreads();
    out[t] = cells[0][t + 1];
}

// Red cells from black ones, then black from red: in place without a second buffer.
extern "C" __global__ void racy_red_black(const float* in, float* out) {
    __shared__ float cells[66];
    int t = threadIdx.x;
    cells[t] = in[t];
    if (t < 2) cells[t + 64] = in[t + 64];
    __syncthreads();
    for (int colour = 0; colour < 2; ++colour) {
        if (t % 2 >= colour) {
            float sum = cells[t] + cells[t + 2];  // @around
            cells[t + 1] = 0.5f * sum;            // race WAR cells @around
        }
        __syncthreads();
    }
    out[t] = cells[t + 1];
}

extern "C" __global__ void clean_red_black(const float* in, float* out) {
    __shared__ float cells[66];
    int t = threadIdx.x;
    cells[t] = in[t];
    if (t < 2) cells[t + 64] = in[t + 64];
    __syncthreads();
    for (int colour = 0; colour < 2; ++colour) {
        if (t % 2 == colour) {
            float sum = cells[t] + cells[t + 2];
            cells[t + 1] = 0.5f * sum;
        }
        __syncthreads();
    }
    out[t] = cells[t + 1];
}
