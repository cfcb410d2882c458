// Convolutions whose masks are in global, constant or shared memory: 3 x 3, 9 x 9, separable, and of a line.

// The masks that the launches get: constant memory cannot be filled without a host.
__constant__ float kernel[81] = {
    0.015625f, 0.125f, 0.234375f, 0.34375f, 0.0625f, 0.171875f, 0.28125f, 0.390625f, 0.109375f, 0.21875f,
    0.328125f, 0.046875f, 0.15625f, 0.265625f, 0.375f, 0.09375f, 0.203125f, 0.3125f, 0.03125f, 0.140625f,
    0.25f, 0.359375f, 0.078125f, 0.1875f, 0.296875f, 0.015625f, 0.125f, 0.234375f, 0.34375f, 0.0625f,
    0.171875f, 0.28125f, 0.390625f, 0.109375f, 0.21875f, 0.328125f, 0.046875f, 0.15625f, 0.265625f, 0.375f,
    0.09375f, 0.203125f, 0.3125f, 0.03125f, 0.140625f, 0.25f, 0.359375f, 0.078125f, 0.1875f, 0.296875f,
    0.015625f, 0.125f, 0.234375f, 0.34375f, 0.0625f, 0.171875f, 0.28125f, 0.390625f, 0.109375f, 0.21875f,
    0.328125f, 0.046875f, 0.15625f, 0.265625f, 0.375f, 0.09375f, 0.203125f, 0.3125f, 0.03125f, 0.140625f,
    0.25f, 0.359375f, 0.078125f, 0.1875f, 0.296875f, 0.015625f, 0.125f, 0.234375f, 0.34375f, 0.0625f,
    0.171875f};

#define IMAGE const float *in, const float *mask, float *out, int W, int H

// 3 x 3, zeros around the image.
__global__ void small_basic(IMAGE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 3; i++) {
            int u = x + i - 1, v = y + j - 1;
            if (u >= 0 && u < W && v >= 0 && v < H) sum += mask[j * 3 + i] * in[v * W + u];
        }
    }
    out[y * W + x] = sum;
}

__global__ void small_constant(IMAGE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 9; k++) {
        int u = x + k % 3 - 1, v = y + k / 3 - 1;
        bool inside = u >= 0 && u < W && v >= 0 && v < H;
        sum += kernel[k] * (inside ? in[v * W + u] : 0.0f);
    }
    out[y * W + x] = sum;
}

__global__ void small_shared(IMAGE) {
    __shared__ float part[10][34];
    int left = blockIdx.x * 32 - 1, top = blockIdx.y * 8 - 1;
    for (int j = threadIdx.y; j < 10; j += 8) {
        for (int i = threadIdx.x; i < 34; i += 32) {
            int u = left + i, v = top + j;
            part[j][i] = (unsigned)u < W && (unsigned)v < H ? in[v * W + u] : 0.0f;
        }
    }
    __syncthreads();
    int x = left + 1 + threadIdx.x, y = top + 1 + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) sum += kernel[j * 3 + i] * part[threadIdx.y + j][threadIdx.x + i];
    out[y * W + x] = sum;
}

// A thread goes down sixteen rows with three rows of three in registers.
__global__ void small_sliding(IMAGE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * 16;
    if (x >= W) return;
    float rows[3][3], m[9];
    for (int k = 0; k < 9; k++) m[k] = mask[k];
    for (int j = 0; j < 2; j++) {
        int v = first + j - 1;
        for (int i = 0; i < 3; i++) {
            int u = x + i - 1;
            rows[j + 1][i] = v >= 0 && v < H && u >= 0 && u < W ? in[v * W + u] : 0.0f;
        }
    }
    for (int y = first; y < first + 16 && y < H; y++) {
        float sum = 0.0f;
        for (int i = 0; i < 3; i++) {
            int u = x + i - 1;
            rows[0][i] = rows[1][i];
            rows[1][i] = rows[2][i];
            rows[2][i] = y + 1 < H && u >= 0 && u < W ? in[(y + 1) * W + u] : 0.0f;
            sum += m[i] * rows[0][i] + m[3 + i] * rows[1][i] + m[6 + i] * rows[2][i];
        }
        out[y * W + x] = sum;
    }
}

// 9 x 9.
__global__ void large_basic(IMAGE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int j = -4; j <= 4; j++) {
        for (int i = -4; i <= 4; i++) {
            if (x + i < 0 || x + i >= W || y + j < 0 || y + j >= H) continue;
            sum += mask[(j + 4) * 9 + i + 4] * in[(y + j) * W + x + i];
        }
    }
    out[y * W + x] = sum;
}

__global__ void large_constant(IMAGE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int v = max(0, y - 4); v <= min(H - 1, y + 4); v++)
        for (int u = max(0, x - 4); u <= min(W - 1, x + 4); u++)
            sum += kernel[(v - y + 4) * 9 + u - x + 4] * in[v * W + u];
    out[y * W + x] = sum;
}

// Mask and image in shared memory.
__global__ void large_shared(IMAGE) {
    __shared__ float part[24][24], weights[81];
    int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    int left = blockIdx.x * 16 - 4, top = blockIdx.y * 16 - 4;
    if (t < 81) weights[t] = mask[t];
    for (int e = t; e < 576; e += 256) {
        int u = left + e % 24, v = top + e / 24;
        part[e / 24][e % 24] = u >= 0 && u < W && v >= 0 && v < H ? in[v * W + u] : 0.0f;
    }
    __syncthreads();
    int x = left + 4 + tx, y = top + 4 + ty;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int j = 0; j < 9; j++) {
#pragma unroll
        for (int i = 0; i < 9; i++) sum += weights[j * 9 + i] * part[ty + j][tx + i];
    }
    out[y * W + x] = sum;
}

// Constant mask, image in shared memory, four rows of a thread.
__global__ void large_four(IMAGE) {
    __shared__ float part[40][40];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 32 - 4, top = blockIdx.y * 32 - 4;
    for (int j = ty; j < 40; j += 8) {
        for (int i = tx; i < 40; i += 32) {
            int u = left + i, v = top + j;
            part[j][i] = u >= 0 && u < W && v >= 0 && v < H ? in[v * W + u] : 0.0f;
        }
    }
    __syncthreads();
    float sum[4] = {};
#pragma unroll
    for (int j = 0; j < 9; j++)
#pragma unroll
        for (int i = 0; i < 9; i++)
            for (int r = 0; r < 4; r++) sum[r] += kernel[j * 9 + i] * part[ty + 8 * r + j][tx + i];
    for (int r = 0; r < 4; r++) {
        int x = left + 4 + tx, y = top + 4 + ty + 8 * r;
        if (x < W && y < H) out[y * W + x] = sum[r];
    }
}

// One pass of a separable mask of fifteen: along rows, then along columns.
__global__ void pass_rows(IMAGE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int k = -7; k <= 7; k++)
        if (x + k >= 0 && x + k < W) sum += mask[k + 7] * in[y * W + x + k];
    out[y * W + x] = sum;
}

// 16 x 8 threads have four elements each, sixteen apart, with the ends of the row beside them.
__global__ void pass_rows_shared(IMAGE) {
    __shared__ float row[8][16 * 6];
    int tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * 64, y = blockIdx.y * 8 + ty;
    for (int k = 0; k < 6; k++) {
        int u = left + (k - 1) * 16 + tx;
        row[ty][k * 16 + tx] = y < H && u >= 0 && u < W ? in[y * W + u] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 1; k < 5; k++) {
        float sum = 0.0f;
#pragma unroll
        for (int j = -7; j <= 7; j++) sum += kernel[j + 7] * row[ty][k * 16 + tx + j];
        int x = left + (k - 1) * 16 + tx;
        if (x < W && y < H) out[y * W + x] = sum;
    }
}

__global__ void pass_columns(IMAGE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float sum = 0.0f;
    for (int k = -7; k <= 7; k++)
        if (y + k >= 0 && y + k < H) sum += kernel[k + 7] * in[(y + k) * W + x];
    out[y * W + x] = sum;
}

__global__ void pass_columns_shared(IMAGE) {
    __shared__ float part[64 + 14][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, top = blockIdx.y * 64;
    for (int j = ty; j < 78; j += 8) {
        int v = top + j - 7;
        part[j][tx] = x < W && v >= 0 && v < H ? in[v * W + x] : 0.0f;
    }
    __syncthreads();
    for (int j = ty; j < 64 && top + j < H; j += 8) {
        float sum = 0.0f;
        for (int k = 0; k < 15; k++) sum += kernel[k] * part[j + k][tx];
        if (x < W) out[(top + j) * W + x] = sum;
    }
}

// A filter of 33 over a line.
#define LINE const float *in, const float *mask, float *out, int n

__global__ void filter_basic(LINE) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = 0; k < 33; k++) {
        int j = i + k - 16;
        if (j >= 0 && j < n) sum += in[j] * mask[k];
    }
    out[i] = sum;
}

__global__ void filter_constant(LINE) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    int from = i < 16 ? 16 - i : 0, to = i + 16 < n ? 33 : n - i + 16;
    for (int k = from; k < to; k++) sum += in[i + k - 16] * kernel[k];
    out[i] = sum;
}

__global__ void filter_shared(LINE) {
    __shared__ float part[256 + 32];
    int i = blockIdx.x * 256 + threadIdx.x, j = i - 16;
    part[threadIdx.x] = j >= 0 && j < n ? in[j] : 0.0f;
    if (threadIdx.x < 32) part[threadIdx.x + 256] = j + 256 < n ? in[j + 256] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
#pragma unroll 11
    for (int k = 0; k < 33; k++) sum += part[threadIdx.x + k] * kernel[k];
    if (i < n) out[i] = sum;
}

// Four neighbours of a thread, with a window of registers that moves on.
__global__ void filter_window(LINE) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first >= n) return;
    float a[4], sum[4] = {};
    for (int s = 0; s < 3; s++) a[s] = first + s >= 16 ? in[first + s - 16] : 0.0f;
#pragma unroll
    for (int k = 0; k < 33; k++) {
        int j = first + k - 13;
        a[(k + 3) % 4] = j >= 0 && j < n ? in[j] : 0.0f;
#pragma unroll
        for (int s = 0; s < 4; s++) sum[s] += a[(k + s) % 4] * kernel[k];
    }
    for (int s = 0; s < 4 && first + s < n; s++) out[first + s] = sum[s];
}
