// Functions of elements, pairs of bodies and of points, the nearest of some centres, a Mandelbrot set.

#define EACH(name) extern "C" __global__ void name(const float* in, float* out, int n)

// The logistic function.
EACH(logistic_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.0f / (1.0f + expf(-in[i]));
}

EACH(logistic_fast) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __fdividef(1.0f, 1.0f + __expf(-in[i]));
}

EACH(logistic_double) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1.0 / (1.0 + exp(-(double)in[i]));
}

EACH(logistic_strides) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        out[i] = 1.0f / (1.0f + expf(-in[i]));
    }
}

EACH(logistic_tanh) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 0.5f * tanhf(0.5f * in[i]) + 0.5f;
}

// Even elements are raised to a power, odd ones have a logarithm taken.
EACH(powers_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (i % 2 == 0) {
        out[i] = powf(in[i] + 1.0f, 2.5f);
    } else {
        out[i] = logf(in[i] + 1.0f);
    }
}

// A block of threads has even elements, then odd ones: warps do not diverge.
EACH(powers_sorted) {
    int base = blockIdx.x * 256, t = threadIdx.x;
    int i = base + (t < 128 ? 2 * t : 2 * (t - 128) + 1);
    if (i >= n) return;
    if (t < 128) {
        out[i] = powf(in[i] + 1.0f, 2.5f);
    } else {
        out[i] = logf(in[i] + 1.0f);
    }
}

// Both are computed and one chosen.
EACH(powers_root) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i] + 1.0f;
    out[i] = i % 2 == 0 ? x * x * sqrtf(x) : logf(x);
}

// Bodies are x, y, z and mass; what comes out is the acceleration of each.
#define BODIES(name) extern "C" __global__ void name(const float* in, float* out, int n)

__device__ void pull(float3& sum, float4 from, float4 own) {
    float x = from.x - own.x, y = from.y - own.y, z = from.z - own.z;
    float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), factor = from.w * inverse * inverse * inverse;
    sum.x += factor * x;
    sum.y += factor * y;
    sum.z += factor * z;
}

BODIES(bodies_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int j = 0; j < n; j++) {
        float x = in[4 * j] - in[4 * i], y = in[4 * j + 1] - in[4 * i + 1], z = in[4 * j + 2] - in[4 * i + 2];
        float square = x * x + y * y + z * z + 0.01f;
        float factor = in[4 * j + 3] / (square * sqrtf(square));
        ax += factor * x;
        ay += factor * y;
        az += factor * z;
    }
    out[3 * i] = ax;
    out[3 * i + 1] = ay;
    out[3 * i + 2] = az;
}

BODIES(bodies_vectors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float4* bodies = (const float4*)in;
    float4 own = bodies[i];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int j = 0; j < n; j++) pull(sum, bodies[j], own);
    out[3 * i] = sum.x;
    out[3 * i + 1] = sum.y;
    out[3 * i + 2] = sum.z;
}

BODIES(bodies_shared) {
    __shared__ float4 s[128];
    const float4* bodies = (const float4*)in;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float4 own = bodies[i];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int start = 0; start < n; start += 128) {
        s[t] = bodies[start + t];
        __syncthreads();
        for (int j = 0; j < 128; j++) pull(sum, s[j], own);
        __syncthreads();
    }
    out[3 * i] = sum.x;
    out[3 * i + 1] = sum.y;
    out[3 * i + 2] = sum.z;
}

// Two bodies to a thread.
BODIES(bodies_two) {
    __shared__ float4 s[64];
    const float4* bodies = (const float4*)in;
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float4 own = bodies[i], next = bodies[i + 64];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f), second = sum;
    for (int start = 0; start < n; start += 64) {
        s[t] = bodies[start + t];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            pull(sum, s[j], own);
            pull(second, s[j], next);
        }
        __syncthreads();
    }
    out[3 * i] = sum.x;
    out[3 * i + 1] = sum.y;
    out[3 * i + 2] = sum.z;
    out[3 * i + 192] = second.x;
    out[3 * i + 193] = second.y;
    out[3 * i + 194] = second.z;
}

// Distances between P and Q points of D coordinates.
#define DISTANCE(name) \
    extern "C" __global__ void name(const float* X, const float* Y, float* out, int P, int Q, int D)

DISTANCE(distance_naive) {
    int p = blockIdx.y * blockDim.y + threadIdx.y, q = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= P || q >= Q) return;
    float sum = 0.0f;
    for (int d = 0; d < D; d++) {
        float difference = X[p * D + d] - Y[q * D + d];
        sum += difference * difference;
    }
    out[p * Q + q] = sqrtf(sum);
}

// Neighbouring threads share the other point: stores are columns.
DISTANCE(distance_swapped) {
    int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
    if (p >= P || q >= Q) return;
    float sum = 0.0f;
    for (int d = 0; d < D; d++) {
        float difference = X[p * D + d] - Y[q * D + d];
        sum += difference * difference;
    }
    out[p * Q + q] = sqrtf(sum);
}

DISTANCE(distance_shared) {
    __shared__ float x[16][17], y[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * 16, left = blockIdx.x * 16;
    float sum = 0.0f;
    for (int start = 0; start < D; start += 16) {
        x[ty][tx] = X[(top + ty) * D + start + tx];
        y[ty][tx] = Y[(left + ty) * D + start + tx];
        __syncthreads();
        for (int d = 0; d < 16; d++) {
            float difference = x[ty][d] - y[tx][d];
            sum += difference * difference;
        }
        __syncthreads();
    }
    out[(top + ty) * Q + left + tx] = sqrtf(sum);
}

// Two by two distances to a thread.
DISTANCE(distance_registers) {
    __shared__ float x[32][17], y[32][17];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * 32, left = blockIdx.x * 32;
    float sum[2][2] = {};
    for (int start = 0; start < D; start += 16) {
        for (int i = 0; i < 32; i += 16) {
            x[ty + i][tx] = X[(top + ty + i) * D + start + tx];
            y[ty + i][tx] = Y[(left + ty + i) * D + start + tx];
        }
        __syncthreads();
        for (int d = 0; d < 16; d++) {
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 2; j++) {
                    float difference = x[ty + 16 * i][d] - y[tx + 16 * j][d];
                    sum[i][j] += difference * difference;
                }
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) out[(top + ty + 16 * i) * Q + left + tx + 16 * j] = sqrtf(sum[i][j]);
    }
}

// The nearest of 32 centres for points of four coordinates.
#define NEAREST(name) extern "C" __global__ void name(const float* in, const float* centre, int* out, int n)

NEAREST(nearest_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int best = 0;
    float least = 1e30f;
    for (int c = 0; c < 32; c++) {
        float sum = 0.0f;
        for (int d = 0; d < 4; d++) {
            float difference = in[4 * i + d] - centre[4 * c + d];
            sum += difference * difference;
        }
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    out[i] = best;
}

NEAREST(nearest_shared) {
    __shared__ float4 s[32];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, best = 0;
    if (t < 32) s[t] = ((const float4*)centre)[t];
    __syncthreads();
    if (i >= n) return;
    float4 own = ((const float4*)in)[i];
    float least = 1e30f;
    for (int c = 0; c < 32; c++) {
        float4 other = s[c];
        float x = own.x - other.x, y = own.y - other.y, z = own.z - other.z, w = own.w - other.w;
        float sum = x * x + y * y + z * z + w * w;
        if (sum < least) {
            least = sum;
            best = c;
        }
    }
    out[i] = best;
}

// A warp has a point: a centre to each lane.
NEAREST(nearest_warp) {
    int i = blockIdx.x * blockDim.y + threadIdx.y, best = threadIdx.x;
    if (i >= n) return;
    float least = 0.0f;
    for (int d = 0; d < 4; d++) {
        float difference = in[4 * i + d] - centre[4 * best + d];
        least += difference * difference;
    }
    for (int step = 16; step > 0; step /= 2) {
        float value = __shfl_xor_sync(0xffffffff, least, step);
        int other = __shfl_xor_sync(0xffffffff, best, step);
        if (value < least || (value == least && other < best)) {
            least = value;
            best = other;
        }
    }
    if (threadIdx.x == 0) out[i] = best;
}

// How many steps a point takes to leave, at most 64; products are not contracted, so that they are exact.
__device__ int steps(int x, int y, int W, int H) {
    float real = -2.0f + 3.0f * x / W, imaginary = -1.5f + 3.0f * y / H, u = 0.0f, v = 0.0f;
    int count = 0;
    while (count < 64) {
        float a = __fmul_rn(u, u), b = __fmul_rn(v, v);
        if (__fadd_rn(a, b) > 4.0f) break;
        v = fmaf(2.0f * u, v, imaginary);
        u = __fadd_rn(__fsub_rn(a, b), real);
        count++;
    }
    return count;
}

#define ESCAPE(name) extern "C" __global__ void name(int* out, int W, int H)

ESCAPE(escape_naive) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H) out[y * W + x] = steps(x, y, W, H);
}

// A thread has a piece of a row of sixteen.
ESCAPE(escape_pieces) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= H) return;
    for (int x = first; x < first + 16 && x < W; x++) out[y * W + x] = steps(x, y, W, H);
}

// A warp has rows apart from each other.
ESCAPE(escape_strides) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < W * H; i += gridDim.x * blockDim.x) {
        out[i] = steps(i % W, i / W, W, H);
    }
}
