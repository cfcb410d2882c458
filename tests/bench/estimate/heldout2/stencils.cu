// Stencils of lines, planes and volumes, of several radii.

#define LINE const float *in, float *out, int n

// The mean of nine neighbours; beyond the ends, the last element is repeated.
__global__ void mean9_basic(LINE) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int k = -4; k <= 4; ++k) sum += in[min(max(i + k, 0), n - 1)];
    out[i] = sum / 9;
}

__global__ void mean9_shared(LINE) {
    __shared__ float near[128 + 8];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    near[t + 4] = in[min(i, n - 1)];
    if (t < 4) near[t] = in[max(i - 4, 0)];
    if (t >= 124) near[t + 8] = in[min(i + 4, n - 1)];
    __syncthreads();
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < 9; ++k) sum += near[t + k];
    out[i] = sum / 9;
}

// Four results of a thread, from three float4; the ends one by one.
__global__ void mean9_vector(LINE) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    if (i >= 4 && i + 8 <= n) {
        float4 a = *(const float4*)(in + i - 4), b = *(const float4*)(in + i), c = *(const float4*)(in + i + 4);
        float s = a.x + a.y + a.z + a.w + b.x + b.y + b.z + b.w + c.x;
        float4 r;
        r.x = s / 9;
        r.y = (s += c.y - a.x) / 9;
        r.z = (s += c.z - a.y) / 9;
        r.w = (s += c.w - a.z) / 9;
        *(float4*)(out + i) = r;
        return;
    }
    for (int j = i; j < i + 4 && j < n; ++j) {
        float sum = 0;
        for (int k = -4; k <= 4; ++k) sum += in[min(max(j + k, 0), n - 1)];
        out[j] = sum / 9;
    }
}

// The sum of sixty-five neighbours, zeros beyond the ends.
__global__ void sum65_basic(LINE) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = max(i - 32, 0); j <= min(i + 32, n - 1); ++j) sum += in[j];
    out[i] = sum;
}

__global__ void sum65_shared(LINE) {
    __shared__ float near[256 + 64];
    int first = blockIdx.x * 256 - 32;
    for (int k = threadIdx.x; k < 320; k += 256) near[k] = first + k >= 0 && first + k < n ? in[first + k] : 0.0f;
    __syncthreads();
    float sum = 0;
#pragma unroll 13
    for (int k = 0; k < 65; ++k) sum += near[threadIdx.x + k];
    if (first + 32 + threadIdx.x < n) out[first + 32 + threadIdx.x] = sum;
}

// A thread has thirty-two results in a row: it adds what comes and takes away what goes.
__global__ void sum65_running(LINE) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    if (i >= n) return;
    float sum = 0;
    for (int j = max(i - 32, 0); j < min(i + 32, n); ++j) sum += in[j];
    for (int j = i; j < i + 32 && j < n; ++j) {
        if (j + 32 < n) sum += in[j + 32];
        out[j] = sum;
        if (j >= 32) sum -= in[j - 32];
    }
}

// A star of radius 2; what is nearer than that to the border stays.
#define PLANE const float *in, float *out, int W, int H

__device__ float star(float c, float n1, float n2) { return 0.5f * c + 0.1f * n1 + 0.025f * n2; }

__global__ void star2_basic(PLANE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * W + x;
    if (x >= W || y >= H) return;
    if (x < 2 || y < 2 || x >= W - 2 || y >= H - 2) {
        out[i] = in[i];
        return;
    }
    out[i] = star(in[i], in[i - 1] + in[i + 1] + in[i - W] + in[i + W],
                  in[i - 2] + in[i + 2] + in[i - 2 * W] + in[i + 2 * W]);
}

__global__ void star2_shared(PLANE) {
    __shared__ float s[16 + 4][16 + 4];
    int tx = threadIdx.x + 2, ty = threadIdx.y + 2;
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y, i = y * W + x;
    bool exists = x < W && y < H;
    if (exists) {
        s[ty][tx] = in[i];
        if (threadIdx.x < 2 && x >= 2) s[ty][tx - 2] = in[i - 2];
        if ((threadIdx.x >= 14) && x + 2 < W) s[ty][tx + 2] = in[i + 2];
        if (threadIdx.y < 2 && y >= 2) s[ty - 2][tx] = in[i - 2 * W];
        if (threadIdx.y >= 14 && y + 2 < H) s[ty + 2][tx] = in[i + 2 * W];
    }
    __syncthreads();
    if (!exists) return;
    if (x < 2 || y < 2 || x >= W - 2 || y >= H - 2)
        out[i] = s[ty][tx];
    else
        out[i] = star(s[ty][tx], s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx],
                      s[ty][tx - 2] + s[ty][tx + 2] + s[ty - 2][tx] + s[ty + 2][tx]);
}

// A thread goes down a column with five elements of it in registers.
__global__ void star2_column(PLANE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, top = blockIdx.y * 24;
    if (x >= W) return;
    int bottom = min(top + 24, H);
    float a = 0, b = top > 1 ? in[(top - 2) * W + x] : 0, c = top > 0 ? in[(top - 1) * W + x] : 0;
    float d = in[top * W + x], e = top + 1 < H ? in[(top + 1) * W + x] : 0;
    for (int y = top; y < bottom; ++y) {
        int i = y * W + x;
        a = b;
        b = c;
        c = d;
        d = e;
        e = y + 2 < H ? in[i + 2 * W] : 0;
        bool inner = x >= 2 && y >= 2 && x < W - 2 && y < H - 2;
        out[i] = inner ? star(c, b + d + in[i - 1] + in[i + 1], a + e + in[i - 2] + in[i + 2]) : c;
    }
}

// Heat in double precision.
#define HEAT const double *in, double *out, int W, int H

__global__ void heat_basic(HEAT) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < W - 1 && y < H - 1) {
        double c = in[y * W + x];
        double around = in[y * W + x - 1] + in[y * W + x + 1] + in[(y - 1) * W + x] + in[(y + 1) * W + x];
        out[y * W + x] = c + 0.2 * (around - 4.0 * c);
    } else if (x < W && y < H) {
        out[y * W + x] = in[y * W + x];
    }
}

__global__ void heat_shared(HEAT) {
    __shared__ double s[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    for (int j = threadIdx.y; j < 10; j += 8)
        for (int i = threadIdx.x; i < 34; i += 32) {
            int u = min(max((int)blockIdx.x * 32 + i - 1, 0), W - 1);
            int v = min(max((int)blockIdx.y * 8 + j - 1, 0), H - 1);
            s[j][i] = in[v * W + u];
        }
    __syncthreads();
    if (x >= W || y >= H) return;
    int i = threadIdx.x + 1, j = threadIdx.y + 1;
    bool inner = x > 0 && y > 0 && x < W - 1 && y < H - 1;
    double around = s[j][i - 1] + s[j][i + 1] + s[j - 1][i] + s[j + 1][i];
    out[y * W + x] = inner ? s[j][i] + 0.2 * (around - 4.0 * s[j][i]) : s[j][i];
}

// Two neighbours of a row to a thread.
__global__ void heat_pairs(HEAT) {
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = blockIdx.y * blockDim.y + threadIdx.y, i = y * W + x;
    if (x >= W || y >= H) return;
    double2 c = *(const double2*)(in + i), r = c;
    if (y > 0 && y < H - 1) {
        double2 up = *(const double2*)(in + i - W), down = *(const double2*)(in + i + W);
        if (x > 0) r.x = c.x + 0.2 * (in[i - 1] + c.y + up.x + down.x - 4.0 * c.x);
        if (x + 1 < W - 1) r.y = c.y + 0.2 * (c.x + in[i + 2] + up.y + down.y - 4.0 * c.y);
    }
    *(double2*)(out + i) = r;
}

// Edges by Sobel's masks: |horizontal| + |vertical|, nothing at the border.
__global__ void edges_basic(PLANE) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    float result = 0;
    if (x > 0 && y > 0 && x < W - 1 && y < H - 1) {
        const float *up = in + (y - 1) * W + x, *own = up + W, *down = own + W;
        float gx = up[1] - up[-1] + 2 * (own[1] - own[-1]) + down[1] - down[-1];
        float gy = down[-1] + 2 * down[0] + down[1] - up[-1] - 2 * up[0] - up[1];
        result = fabsf(gx) + fabsf(gy);
    }
    out[y * W + x] = result;
}

// Threads of the rim load and do nothing more: 32 x 16 threads make 30 x 14.
__global__ void edges_rim(PLANE) {
    __shared__ float s[16][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = (int)blockIdx.x * 30 + tx - 1, y = (int)blockIdx.y * 14 + ty - 1;
    bool exists = x >= 0 && y >= 0 && x < W && y < H;
    s[ty][tx] = exists ? in[y * W + x] : 0.0f;
    __syncthreads();
    if (!exists || tx == 0 || ty == 0 || tx == 31 || ty == 15) return;
    float gx = s[ty - 1][tx + 1] - s[ty - 1][tx - 1] + 2 * (s[ty][tx + 1] - s[ty][tx - 1]) + s[ty + 1][tx + 1] -
               s[ty + 1][tx - 1];
    float gy = s[ty + 1][tx - 1] + 2 * s[ty + 1][tx] + s[ty + 1][tx + 1] - s[ty - 1][tx - 1] - 2 * s[ty - 1][tx] -
               s[ty - 1][tx + 1];
    out[y * W + x] = x > 0 && y > 0 && x < W - 1 && y < H - 1 ? fabsf(gx) + fabsf(gy) : 0.0f;
}

// Rows go from lane to lane by shuffles.
__global__ void edges_shuffle(PLANE) {
    int lane = threadIdx.x, x = (int)blockIdx.x * 30 + lane - 1, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= H) return;
    int u = min(max(x, 0), W - 1);
    float up = in[max(y - 1, 0) * W + u], own = in[y * W + u], down = in[min(y + 1, H - 1) * W + u];
    float across = up + 2 * own + down, along = down - up;
    float gx = __shfl_down_sync(~0u, across, 1) - __shfl_up_sync(~0u, across, 1);
    float gy = __shfl_down_sync(~0u, along, 1) + 2 * along + __shfl_up_sync(~0u, along, 1);
    if (lane == 0 || lane == 31 || x >= W) return;
    out[y * W + x] = x > 0 && y > 0 && x < W - 1 && y < H - 1 ? fabsf(gx) + fabsf(gy) : 0.0f;
}

// The least of 5 x 5 bytes; the border's bytes are repeated outwards.
#define PIXELS const unsigned char *in, unsigned char *out, int W, int H

__global__ void least_basic(PIXELS) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H) return;
    int least = 255;
    for (int v = max(y - 2, 0); v <= min(y + 2, H - 1); ++v)
        for (int u = max(x - 2, 0); u <= min(x + 2, W - 1); ++u) least = min(least, (int)in[v * W + u]);
    out[y * W + x] = least;
}

__global__ void least_shared(PIXELS) {
    __shared__ unsigned char s[20][20];
    int left = blockIdx.x * 16, top = blockIdx.y * 16, t = threadIdx.y * 16 + threadIdx.x;
    for (int e = t; e < 400; e += 256) {
        int u = min(max(left + e % 20 - 2, 0), W - 1), v = min(max(top + e / 20 - 2, 0), H - 1);
        s[e / 20][e % 20] = in[v * W + u];
    }
    __syncthreads();
    int x = left + threadIdx.x, y = top + threadIdx.y;
    if (x >= W || y >= H) return;
    unsigned char least = 255;
    for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 5; ++i) least = min(least, s[threadIdx.y + j][threadIdx.x + i]);
    out[y * W + x] = least;
}

// First along rows, then along columns, both in shared memory.
__global__ void least_passes(PIXELS) {
    __shared__ unsigned char s[12][36], rows[12][32];
    int left = blockIdx.x * 32, top = blockIdx.y * 8, tx = threadIdx.x;
    for (int j = threadIdx.y; j < 12; j += 8)
        for (int i = tx; i < 36; i += 32) {
            int u = min(max(left + i - 2, 0), W - 1), v = min(max(top + j - 2, 0), H - 1);
            s[j][i] = in[v * W + u];
        }
    __syncthreads();
    for (int j = threadIdx.y; j < 12; j += 8) {
        int least = s[j][tx];
        for (int i = 1; i < 5; ++i) least = min(least, (int)s[j][tx + i]);
        rows[j][tx] = least;
    }
    __syncthreads();
    int x = left + tx, y = top + threadIdx.y;
    if (x >= W || y >= H) return;
    int least = rows[threadIdx.y][tx];
    for (int j = 1; j < 5; ++j) least = min(least, (int)rows[threadIdx.y + j][tx]);
    out[y * W + x] = least;
}
