// Scans and sorts of pieces, steps of a bitonic sort, counts.

#define SCAN(name) extern "C" __global__ void name(const float* in, float* out, int n)

// Each thread adds up all that lies before it in its piece of 256.
SCAN(prefix_naive) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int k = blockIdx.x * 256; k <= i; k++) sum += in[k];
    out[i] = sum;
}

SCAN(prefix_naive_shared) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k <= t; k++) sum += s[k];
    if (i < n) out[i] = sum;
}

SCAN(prefix_doubling) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        float before = t >= step ? s[t - step] : 0.0f;
        __syncthreads();
        s[t] += before;
        __syncthreads();
    }
    if (i < n) out[i] = s[t];
}

// Up and down a tree in place (Brent and Kung).
SCAN(prefix_tree) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? in[i] : 0.0f;
    for (int step = 1; step < 256; step *= 2) {
        __syncthreads();
        int at = (t + 1) * 2 * step - 1;
        if (at < 256) s[at] += s[at - step];
    }
    for (int step = 64; step > 0; step /= 2) {
        __syncthreads();
        int at = (t + 1) * 2 * step - 1;
        if (at + step < 256) s[at + step] += s[at];
    }
    __syncthreads();
    if (i < n) out[i] = s[t];
}

// Warps scan by shuffles and add the sums of those before them.
SCAN(prefix_warps) {
    __shared__ float sums[8];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32, warp = t / 32;
    float value = i < n ? in[i] : 0.0f;
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step) value += before;
    }
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    for (int w = 0; w < warp; w++) value += sums[w];
    if (i < n) out[i] = value;
}

#define SORT(name) extern "C" __global__ void name(const float* in, float* out, int n)

// Pieces of 256 are sorted: neighbours are exchanged 256 times.
SORT(sort_odd_even) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i];
    for (int round = 0; round < 256; round++) {
        __syncthreads();
        int at = 2 * t + round % 2;
        if (at + 1 < 256 && s[at] > s[at + 1]) {
            float v = s[at];
            s[at] = s[at + 1];
            s[at + 1] = v;
        }
    }
    __syncthreads();
    out[i] = s[t];
}

// Each thread counts how many come before its element.
SORT(sort_by_rank) {
    __shared__ float s[256];
    int t = threadIdx.x, first = blockIdx.x * 256, rank = 0;
    float value = in[first + t];
    s[t] = value;
    __syncthreads();
    for (int k = 0; k < 256; k++) rank += s[k] < value || (s[k] == value && k < t);
    out[first + rank] = value;
}

SORT(sort_bitonic) {
    __shared__ float s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i];
    for (int size = 2; size <= 256; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int other = t ^ step;
            if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
                float v = s[t];
                s[t] = s[other];
                s[other] = v;
            }
        }
    }
    __syncthreads();
    out[i] = s[t];
}

// One step of a bitonic sort over the whole array: 4096 apart in runs of 16384.
#define STEP(name) extern "C" __global__ void name(const float* in, float* out, int n)

STEP(step_elements) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ 4096;
    if (i >= n) return;
    bool up = (i & 16384) == 0, low = i < other;
    float a = in[i], b = in[other];
    if (low == up) {
        out[i] = a < b ? a : b;
    } else {
        out[i] = a < b ? b : a;
    }
}

// A thread has a pair: half the threads.
STEP(step_pairs) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = (t / 4096) * 8192 + t % 4096;
    if (i >= n) return;
    float a = in[i], b = in[i + 4096], low = fminf(a, b), high = fmaxf(a, b);
    bool up = (i & 16384) == 0;
    out[i] = up ? low : high;
    out[i + 4096] = up ? high : low;
}

// The same four elements at a time.
STEP(step_vectors) {
    int t = (blockIdx.x * blockDim.x + threadIdx.x) * 4, i = (t / 4096) * 8192 + t % 4096;
    if (i >= n) return;
    float4 a = *(const float4*)(in + i), b = *(const float4*)(in + i + 4096);
    float4 low = make_float4(fminf(a.x, b.x), fminf(a.y, b.y), fminf(a.z, b.z), fminf(a.w, b.w));
    float4 high = make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
    bool up = (i & 16384) == 0;
    *(float4*)(out + i) = up ? low : high;
    *(float4*)(out + i + 4096) = up ? high : low;
}

// Sixteen bins of bytes.
#define BINS(name) extern "C" __global__ void name(const unsigned char* in, unsigned* out, int n)

BINS(bins_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[in[i] / 16], 1u);
}

BINS(bins_shared) {
    __shared__ unsigned s[16];
    int t = threadIdx.x;
    if (t < 16) s[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[in[i] / 16], 1u);
    __syncthreads();
    if (t < 16) atomicAdd(&out[t], s[t]);
}

// Each thread counts for itself in shared memory.
BINS(bins_private) {
    __shared__ unsigned s[16][128];
    int t = threadIdx.x;
    for (int b = 0; b < 16; b++) s[b][t] = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) s[in[i] / 16][t]++;
    __syncthreads();
    if (t < 16) {
        unsigned sum = 0;
        for (int k = 0; k < 128; k++) sum += s[t][(k + t) % 128];
        atomicAdd(&out[t], sum);
    }
}

// A vote of the warp for each bin.
BINS(bins_votes) {
    int t = threadIdx.x, lane = t % 32;
    unsigned own = 0;
    for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
        int bin = start + t < n ? in[start + t] / 16 : -1;
        for (int b = 0; b < 16; b++) {
            unsigned count = __popc(__ballot_sync(0xffffffff, bin == b));
            if (lane == b) own += count;
        }
    }
    if (lane < 16) atomicAdd(&out[lane], own);
}

// How often a letter is in a text.
#define LETTER(name) extern "C" __global__ void name(const unsigned char* in, unsigned* out, int n)

LETTER(letter_naive) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == 101) atomicAdd(out, 1u);
}

LETTER(letter_block) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(i < n && in[i] == 101);
    if (threadIdx.x == 0) atomicAdd(out, (unsigned)count);
}

LETTER(letter_strides) {
    unsigned count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) count += in[i] == 101;
    for (int step = 16; step > 0; step /= 2) count += __shfl_down_sync(0xffffffff, count, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, count);
}

LETTER(letter_words) {
    unsigned count = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 v = ((const uchar4*)in)[i];
        count += (v.x == 101) + (v.y == 101) + (v.z == 101) + (v.w == 101);
    }
    for (int step = 16; step > 0; step /= 2) count += __shfl_down_sync(0xffffffff, count, step);
    if (threadIdx.x % 32 == 0) atomicAdd(out, count);
}
