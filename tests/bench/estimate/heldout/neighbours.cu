// Three points of a line, nine of a plane, masks, and the game of life.

#define LINE(name) extern "C" __global__ void name(const float* in, float* out, int n)

LINE(three_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = i > 0 ? in[i - 1] : 0.0f, right = i < n - 1 ? in[i + 1] : 0.0f;
    out[i] = 0.25f * left + 0.5f * in[i] + 0.25f * right;
}

LINE(three_shared) {
    __shared__ float s[258];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t + 1] = i < n ? in[i] : 0.0f;
    if (t == 0) s[0] = i > 0 ? in[i - 1] : 0.0f;
    if (t == 255) s[257] = i + 1 < n ? in[i + 1] : 0.0f;
    __syncthreads();
    if (i < n) out[i] = 0.25f * s[t] + 0.5f * s[t + 1] + 0.25f * s[t + 2];
}

// Eight neighbours to a thread, with three of them in registers.
LINE(three_eight) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (first >= n) return;
    float left = first > 0 ? in[first - 1] : 0.0f, middle = in[first];
    for (int i = first; i < first + 8 && i < n; i++) {
        float right = i < n - 1 ? in[i + 1] : 0.0f;
        out[i] = 0.25f * left + 0.5f * middle + 0.25f * right;
        left = middle;
        middle = right;
    }
}

#define PLANE(name) extern "C" __global__ void name(const float* in, float* out, int W, int H)

// The mean of nine points.
PLANE(nine_naive) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (x + dx >= 0 && x + dx < W && y + dy >= 0 && y + dy < H) sum += in[(y + dy) * W + x + dx];
        }
    }
    out[y * W + x] = sum / 9.0f;
}

PLANE(nine_shared) {
    __shared__ float s[18][18];
    int tx = threadIdx.x, ty = threadIdx.y, left = (int)blockIdx.x * 16 - 1, top = (int)blockIdx.y * 16 - 1;
    for (int v = ty; v < 18; v += 16) {
        for (int u = tx; u < 18; u += 16) {
            int x = left + u, y = top + v;
            s[v][u] = x >= 0 && y >= 0 && x < W && y < H ? in[y * W + x] : 0.0f;
        }
    }
    __syncthreads();
    int x = left + 1 + tx, y = top + 1 + ty;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int v = 0; v < 3; v++) {
        for (int u = 0; u < 3; u++) sum += s[ty + v][tx + u];
    }
    out[y * W + x] = sum / 9.0f;
}

// A thread goes down 32 rows and has the sums of three of them.
PLANE(nine_columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 32;
    if (x >= W) return;
    float sums[3] = {};
    for (int y = top - 1; y <= top + 32 && y <= H; y++) {
        float sum = 0.0f;
        if (y >= 0 && y < H) {
            sum = in[y * W + x];
            if (x > 0) sum += in[y * W + x - 1];
            if (x < W - 1) sum += in[y * W + x + 1];
        }
        sums[0] = sums[1];
        sums[1] = sums[2];
        sums[2] = sum;
        if (y > top) out[(y - 1) * W + x] = (sums[0] + sums[1] + sums[2]) / 9.0f;
    }
}

__constant__ float weights[49] = {
    0.015625f, 0.125f,    0.234375f, 0.34375f,  0.0625f,   0.171875f, 0.28125f,  0.390625f, 0.109375f, 0.21875f,
    0.328125f, 0.046875f, 0.15625f,  0.265625f, 0.375f,    0.09375f,  0.203125f, 0.3125f,   0.03125f,  0.140625f,
    0.25f,     0.359375f, 0.078125f, 0.1875f,   0.296875f, 0.015625f, 0.125f,    0.234375f, 0.34375f,  0.0625f,
    0.171875f, 0.28125f,  0.390625f, 0.109375f, 0.21875f,  0.328125f, 0.046875f, 0.15625f,  0.265625f, 0.375f,
    0.09375f,  0.203125f, 0.3125f,   0.03125f,  0.140625f, 0.25f,     0.359375f, 0.078125f, 0.1875f};

#define MASK(name) extern "C" __global__ void name(const float* in, const float* mask, float* out, int W, int H)

// Seven by seven points under a mask.
MASK(seven_naive) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int j = -3; j <= 3; j++) {
        for (int i = -3; i <= 3; i++) {
            if (x + i >= 0 && x + i < W && y + j >= 0 && y + j < H) {
                sum += mask[(j + 3) * 7 + i + 3] * in[(y + j) * W + x + i];
            }
        }
    }
    out[y * W + x] = sum;
}

MASK(seven_constant) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int j = -3; j <= 3; j++) {
        for (int i = -3; i <= 3; i++) {
            if (x + i >= 0 && x + i < W && y + j >= 0 && y + j < H) {
                sum += weights[(j + 3) * 7 + i + 3] * in[(y + j) * W + x + i];
            }
        }
    }
    out[y * W + x] = sum;
}

MASK(seven_shared) {
    __shared__ float s[22][22];
    int tx = threadIdx.x, ty = threadIdx.y, left = (int)blockIdx.x * 16 - 3, top = (int)blockIdx.y * 16 - 3;
    for (int i = ty * 16 + tx; i < 22 * 22; i += 256) {
        int x = left + i % 22, y = top + i / 22;
        s[i / 22][i % 22] = x >= 0 && y >= 0 && x < W && y < H ? in[y * W + x] : 0.0f;
    }
    __syncthreads();
    int x = left + 3 + tx, y = top + 3 + ty;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int j = 0; j < 7; j++) {
        for (int i = 0; i < 7; i++) sum += weights[j * 7 + i] * s[ty + j][tx + i];
    }
    out[y * W + x] = sum;
}

// Loops whose bounds are kept inside, so that no point is asked for.
MASK(seven_clipped) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int first = max(0, x - 3), last = min(W - 1, x + 3);
    float sum = 0.0f;
    for (int v = max(0, y - 3); v <= min(H - 1, y + 3); v++) {
        for (int u = first; u <= last; u++) sum += mask[(v - y + 3) * 7 + u - x + 3] * in[v * W + u];
    }
    out[y * W + x] = sum;
}

// Nine points of a row under a mask: half of a separable blur.
MASK(row_mask_naive) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= W) return;
    float sum = 0.0f;
    for (int i = -4; i <= 4; i++) {
        if (x + i >= 0 && x + i < W) sum += mask[i + 4] * in[y * W + x + i];
    }
    out[y * W + x] = sum;
}

MASK(row_mask_constant) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= W) return;
    float sum = 0.0f;
    for (int i = -4; i <= 4; i++) {
        if (x + i >= 0 && x + i < W) sum += weights[i + 4] * in[y * W + x + i];
    }
    out[y * W + x] = sum;
}

MASK(row_mask_shared) {
    __shared__ float s[136];
    int t = threadIdx.x, first = (int)blockIdx.x * 128, y = blockIdx.y;
    for (int i = t; i < 136; i += 128) {
        int x = first + i - 4;
        s[i] = x >= 0 && x < W ? in[y * W + x] : 0.0f;
    }
    __syncthreads();
    if (first + t >= W) return;
    float sum = 0.0f;
    for (int i = 0; i < 9; i++) sum += weights[i] * s[t + i];
    out[y * W + first + t] = sum;
}

// The same along columns, by a walk down 64 rows with nine points in registers.
MASK(column_mask_registers) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 64;
    if (x >= W) return;
    float window[9];
    for (int k = 0; k < 8; k++) {
        int y = top + k - 4;
        window[k] = y >= 0 && y < H ? in[y * W + x] : 0.0f;
    }
    for (int y = top; y < top + 64 && y < H; y++) {
        window[8] = y + 4 < H ? in[(y + 4) * W + x] : 0.0f;
        float sum = 0.0f;
#pragma unroll
        for (int k = 0; k < 9; k++) sum += weights[k] * window[k];
        out[y * W + x] = sum;
#pragma unroll
        for (int k = 0; k < 8; k++) window[k] = window[k + 1];
    }
}

#define LIFE(name) extern "C" __global__ void name(const unsigned char* in, unsigned char* out, int W, int H)

// A cell is alive where its byte is odd; the plane is a torus.
LIFE(life_naive) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int count = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx != 0 || dy != 0) count += in[(y + dy + H) % H * W + (x + dx + W) % W] & 1;
        }
    }
    out[y * W + x] = count == 3 || (count == 2 && (in[y * W + x] & 1));
}

// Borders by comparison instead of remainders.
LIFE(life_compared) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int left = x == 0 ? W - 1 : x - 1, right = x == W - 1 ? 0 : x + 1;
    int up = (y == 0 ? H - 1 : y - 1) * W, here = y * W, down = (y == H - 1 ? 0 : y + 1) * W;
    int count = (in[up + left] & 1) + (in[up + x] & 1) + (in[up + right] & 1) + (in[here + left] & 1) +
                (in[here + right] & 1) + (in[down + left] & 1) + (in[down + x] & 1) + (in[down + right] & 1);
    out[here + x] = count == 3 || (count == 2 && (in[here + x] & 1));
}

LIFE(life_shared) {
    __shared__ unsigned char s[10][34];
    int tx = threadIdx.x, ty = threadIdx.y, left = (int)blockIdx.x * 32 - 1, top = (int)blockIdx.y * 8 - 1;
    for (int i = ty * 32 + tx; i < 340; i += 256) {
        s[i / 34][i % 34] = in[(top + i / 34 + H) % H * W + (left + i % 34 + W) % W] & 1;
    }
    __syncthreads();
    int x = left + 1 + tx, y = top + 1 + ty, count = 0;
    if (x >= W || y >= H) return;
    for (int v = 0; v < 3; v++) {
        for (int u = 0; u < 3; u++) count += s[ty + v][tx + u];
    }
    int alive = s[ty + 1][tx + 1];
    count -= alive;
    out[y * W + x] = count == 3 || (count == 2 && alive);
}
