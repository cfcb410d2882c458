// Prices of options, hashes, sequences of Collatz, cube roots, darts: more arithmetic than memory.

#define OPTIONS const float *price, const float *strike, const float *years, float *out, int n
#define RATE 0.02f
#define VOLATILITY 0.3f

__device__ float normal(float d) { return 0.5f * erfcf(-d * 0.70710678f); }

// Black and Scholes: calls in the first half of the result, puts in the second.
__device__ void priced(float s, float k, float t, float& call, float& put) {
    s = 5.0f + 25.0f * s;
    k = 5.0f + 25.0f * k;
    t = 0.25f + 9.75f * t;
    float root = VOLATILITY * sqrtf(t);
    float d1 = (logf(s / k) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) / root, d2 = d1 - root;
    float later = k * expf(-RATE * t);
    call = s * normal(d1) - later * normal(d2);
    put = later * normal(-d2) - s * normal(-d1);
}

__global__ void options_basic(OPTIONS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) priced(price[i], strike[i], years[i], out[i], out[n + i]);
}

__global__ void options_stride(OPTIONS) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        priced(price[i], strike[i], years[i], out[i], out[n + i]);
}

__global__ void options_four(OPTIONS) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (q >= n / 4) return;
    float4 s = ((const float4*)price)[q], k = ((const float4*)strike)[q], t = ((const float4*)years)[q], call, put;
    priced(s.x, k.x, t.x, call.x, put.x);
    priced(s.y, k.y, t.y, call.y, put.y);
    priced(s.z, k.z, t.z, call.z, put.z);
    priced(s.w, k.w, t.w, call.w, put.w);
    ((float4*)out)[q] = call;
    ((float4*)(out + n))[q] = put;
}

// The normal distribution by a polynomial, everything by the fast instructions; puts by parity.
__device__ float polynomial(float d) {
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float p = ((((1.330274429f * k - 1.821255978f) * k + 1.781477937f) * k - 0.356563782f) * k + 0.31938153f) * k;
    p *= 0.39894228f * __expf(-0.5f * d * d);
    return d > 0 ? 1.0f - p : p;
}

__global__ void options_fast(OPTIONS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 5.0f + 25.0f * price[i], k = 5.0f + 25.0f * strike[i], t = 0.25f + 9.75f * years[i];
    float inverse = rsqrtf(t) / VOLATILITY, root = VOLATILITY * VOLATILITY * t * inverse;
    float d1 = (__logf(__fdividef(s, k)) + (RATE + 0.5f * VOLATILITY * VOLATILITY) * t) * inverse;
    float later = k * __expf(-RATE * t), call = s * polynomial(d1) - later * polynomial(d1 - root);
    out[i] = call;
    out[n + i] = call + later - s;
}

// The same with constants that are doubles by mistake.
__global__ void options_double(OPTIONS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double s = 5.0 + 25.0 * price[i], k = 5.0 + 25.0 * strike[i], t = 0.25 + 9.75 * years[i];
    double root = 0.3 * sqrt(t), d1 = (log(s / k) + (0.02 + 0.5 * 0.09) * t) / root, d2 = d1 - root;
    double later = k * exp(-0.02 * t), first = 0.5 * erfc(-d1 * 0.70710678), second = 0.5 * erfc(-d2 * 0.70710678);
    out[i] = s * first - later * second;
    out[n + i] = later * (1.0 - second) - s * (1.0 - first);
}

// Sixteen rounds of shifts and products.
#define WORDS const unsigned *in, unsigned *out, int n

__device__ unsigned mixed(unsigned h) {
#pragma unroll
    for (int round = 0; round < 16; round++) {
        h ^= h >> 15;
        h *= 0x2c1b3c6du;
        h ^= h << 7 | h >> 25;
        h += round * 0x9e3779b9u;
    }
    return h;
}

__global__ void hash_basic(WORDS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mixed(in[i]);
}

__global__ void hash_four(WORDS) {
    int q = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * q >= n) return;
    uint4 w = ((const uint4*)in)[q];
    ((uint4*)out)[q] = make_uint4(mixed(w.x), mixed(w.y), mixed(w.z), mixed(w.w));
}

// Rounds are a loop, and the constants a table in constant memory.
__constant__ unsigned rounds[16] = {0x00000000, 0x9e3779b9, 0x3c6ef372, 0xdaa66d2b, 0x78dde6e4, 0x1715609d,
                                    0xb54cda56, 0x5384540f, 0xf1bbcdc8, 0x8ff34781, 0x2e2ac13a, 0xcc623af3,
                                    0x6a99b4ac, 0x08d12e65, 0xa708a81e, 0x454021d7};

__global__ void hash_loop(WORDS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = in[i];
#pragma unroll 1
    for (int round = 0; round < 16; round++) {
        h = (h ^ (h >> 15)) * 0x2c1b3c6du;
        h = (h ^ __funnelshift_l(h, h, 7)) + rounds[round];
    }
    out[i] = h;
}

// How many steps of Collatz's sequence lead from a number up to 65536 to 1.
__global__ void collatz_basic(WORDS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = (in[i] & 65535) + 1, steps = 0;
    while (v != 1) {
        if (v % 2 == 0)
            v = v / 2;
        else
            v = 3 * v + 1;
        steps++;
    }
    out[i] = steps;
}

// All halvings in a row at once.
__global__ void collatz_zeros(WORDS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = (in[i] & 65535) + 1, zeros = __ffs(v) - 1, steps = zeros;
    v >>= zeros;
    while (v > 1) {
        v = 3 * v + 1;
        zeros = __ffs(v) - 1;
        v >>= zeros;
        steps += zeros + 1;
    }
    out[i] = steps;
}

__global__ void collatz_stride(WORDS) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned v = (in[i] & 65535) + 1, steps = 0;
        for (; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v >> 1;
        out[i] = steps;
    }
}

// Cube roots of 1 to 2 by twenty steps of Newton's.
#define NUMBERS const float *in, float *out, int n

__global__ void roots_basic(NUMBERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i] + 1, r = v;
    for (int step = 0; step < 20; step++) r = r - (r * r * r - v) / (3 * r * r);
    out[i] = r;
}

__global__ void roots_fast(NUMBERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i] + 1, r = v;
#pragma unroll 5
    for (int step = 0; step < 20; step++) r = 0.66666667f * r + __fdividef(v, 3 * r * r);
    out[i] = r;
}

// Two of a thread, half the array apart: divisions overlap.
__global__ void roots_two(NUMBERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = n / 2;
    if (i >= half) return;
    float v = in[i] + 1, w = in[i + half] + 1, r = v, q = w;
    for (int step = 0; step < 20; step++) {
        r -= (r * r * r - v) / (3 * r * r);
        q -= (q * q * q - w) / (3 * q * q);
    }
    out[i] = r;
    out[i + half] = q;
}

__global__ void roots_double(NUMBERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = in[i] + 1.0, r = v;
    for (int step = 0; step < 20; step++) r -= (r * r * r - v) / (3.0 * r * r);
    out[i] = r;
}

// Darts: 128 throws of each thread, hits in a quarter of a circle are counted.
#define DARTS unsigned *out, int n

__device__ unsigned thrown(unsigned& state) {
    state = state * 1664525u + 1013904223u;
    return state >> 20;
}

__global__ void darts_basic(DARTS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned state = i * 747796405u + 2891336453u, hits = 0;
    for (int k = 0; k < 128; k++) {
        float x = thrown(state) / 4096.0f, y = thrown(state) / 4096.0f;
        if (x * x + y * y < 1.0f) hits++;
    }
    atomicAdd(out, hits);
}

__global__ void darts_whole(DARTS) {
    __shared__ unsigned total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned state = i * 747796405u + 2891336453u, hits = 0;
        for (int k = 0; k < 128; k++) {
            unsigned x = thrown(state), y = thrown(state);
            hits += x * x + y * y < 1u << 24;
        }
        atomicAdd(&total, hits);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, total);
}

// Each hit is an atomic of its own.
__global__ void darts_atomics(DARTS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned state = i * 747796405u + 2891336453u;
    for (int k = 0; k < 128 && i < n; k++) {
        float x = thrown(state) / 4096.0f, y = thrown(state) / 4096.0f;
        if (sqrtf(x * x + y * y) < 1.0f) atomicAdd(out, 1);
    }
}
