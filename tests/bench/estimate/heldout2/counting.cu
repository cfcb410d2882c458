// Atomics: counts of what is large, sums by key, histograms of several sizes.

// How many values are above 200.
#define VALUES const int *in, unsigned *out, int n

__global__ void count_global(VALUES) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 200) atomicAdd(out, 1);
}

__global__ void count_shared(VALUES) {
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 200) atomicAdd(&count, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, count);
}

// A warp votes, its first lane adds.
__global__ void count_ballot(VALUES) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned votes = __ballot_sync(0xffffffff, i < n && in[i] > 200);
    if (threadIdx.x % 32 == 0 && votes) atomicAdd(out, __popc(votes));
}

// The block counts at its barrier.
__global__ void count_barrier(VALUES) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int count = __syncthreads_count(i < n && in[i] > 200);
    if (threadIdx.x == 0) atomicAdd(out, count);
}

// Sums of values by their keys: float atomics.
#define KEYED const float *in, const int *key, float *out, int n

__global__ void keyed_global(KEYED) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[key[i] & 63], in[i]);
}

__global__ void keyed_shared(KEYED) {
    __shared__ float sums[64];
    if (threadIdx.x < 64) sums[threadIdx.x] = 0.0f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&sums[key[i] & 63], in[i]);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], sums[threadIdx.x]);
}

// Each warp adds into sums of its own.
__global__ void keyed_warps(KEYED) {
    __shared__ float sums[8][65];
    float* own = sums[threadIdx.x / 32];
    for (int k = threadIdx.x % 32; k < 64; k += 32) own[k] = 0.0f;
    __syncwarp();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(own + (key[i] & 63), in[i]);
    __syncthreads();
    if (threadIdx.x < 64) {
        float sum = 0.0f;
        for (int w = 0; w < 8; w++) sum += sums[w][threadIdx.x];
        atomicAdd(&out[threadIdx.x], sum);
    }
}

// A block has one key, and goes over everything for it.
__global__ void keyed_block(KEYED) {
    __shared__ float sums[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if ((key[i] & 63) == blockIdx.x) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// The same by many keys.
__global__ void spread_global(KEYED) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[key[i] & 4095], in[i]);
}

__global__ void spread_shared(KEYED) {
    __shared__ float sums[4096];
    for (int k = threadIdx.x; k < 4096; k += blockDim.x) sums[k] = 0.0f;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&sums[key[i] & 4095], in[i]);
    __syncthreads();
    for (int k = threadIdx.x; k < 4096; k += blockDim.x) atomicAdd(&out[k], sums[k]);
}

// Four of a thread, which has all its loads under way before it adds.
__global__ void spread_four(KEYED) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 3 < n) {
        int4 k = *(const int4*)(key + i);
        float4 v = *(const float4*)(in + i);
        atomicAdd(&out[k.x & 4095], v.x);
        atomicAdd(&out[k.y & 4095], v.y);
        atomicAdd(&out[k.z & 4095], v.z);
        atomicAdd(&out[k.w & 4095], v.w);
    } else {
        for (; i < n; i++) atomicAdd(&out[key[i] & 4095], in[i]);
    }
}

// Histograms of 32 bins of whole numbers.
__global__ void thirty_two_global(VALUES) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[in[i] >> 3], 1);
}

__global__ void thirty_two_shared(VALUES) {
    __shared__ unsigned bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i] >> 3], 1);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// A thread has its own bins, a column of shared memory: no atomics until the end.
__global__ void thirty_two_private(VALUES) {
    __shared__ unsigned bins[32][128];
    for (int b = 0; b < 32; b++) bins[b][threadIdx.x] = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += 128 * gridDim.x) bins[in[i] >> 3][threadIdx.x]++;
    __syncthreads();
    for (int b = threadIdx.x / 32; b < 32; b += 4) {
        unsigned sum = 0;
        for (int t = threadIdx.x % 32; t < 128; t += 32) sum += bins[b][t];
        sum = __reduce_add_sync(0xffffffff, sum);
        if (threadIdx.x % 32 == 0) atomicAdd(&out[b], sum);
    }
}

// Histograms of 256 bins of bytes.
#define BYTES const unsigned char *in, unsigned *out, int n

__global__ void bytes_global(BYTES) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[in[i]], 1);
}

__global__ void bytes_shared(BYTES) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// Four bytes at a time; two copies of the bins, for even and odd lanes.
__global__ void bytes_words(BYTES) {
    __shared__ unsigned bins[2][257];
    unsigned* own = bins[threadIdx.x & 1];
    bins[0][threadIdx.x] = bins[1][threadIdx.x] = 0;
    __syncthreads();
    const uchar4* words = (const uchar4*)in;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += blockDim.x * gridDim.x) {
        uchar4 w = words[i];
        atomicAdd(&own[w.x], 1);
        atomicAdd(&own[w.y], 1);
        atomicAdd(&own[w.z], 1);
        atomicAdd(&own[w.w], 1);
    }
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[0][threadIdx.x] + bins[1][threadIdx.x]);
}

// A run of equal bytes is counted before it is added; a thread has 32 neighbours.
__global__ void bytes_runs(BYTES) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 32, last = min(first + 32, n);
    if (first < n) {
        unsigned char value = in[first];
        unsigned length = 1;
        for (int i = first + 1; i < last; i++) {
            if (in[i] == value) {
                length++;
            } else {
                atomicAdd(&bins[value], length);
                value = in[i];
                length = 1;
            }
        }
        atomicAdd(&bins[value], length);
    }
    __syncthreads();
    if (bins[threadIdx.x] > 0) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// Histograms of 2048 bins.
__global__ void many_bins_global(VALUES) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&out[in[i] & 2047], 1);
}

__global__ void many_bins_shared(VALUES) {
    extern __shared__ unsigned bins[];
    for (int b = threadIdx.x; b < 2048; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(bins + (in[i] & 2047), 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 2048; b += blockDim.x)
        if (bins[b] != 0) atomicAdd(out + b, bins[b]);
}

// Sixteen-bit counts, two to a word: half the shared memory.
__global__ void many_bins_packed(VALUES) {
    __shared__ unsigned bins[1024];
    for (int b = threadIdx.x; b < 1024; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 4096 + threadIdx.x; i < min(n, (int)blockIdx.x * 4096 + 4096); i += blockDim.x) {
        int v = in[i] & 2047;
        atomicAdd(bins + (v >> 1), v & 1 ? 65536u : 1u);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < 1024; b += blockDim.x) {
        atomicAdd(out + 2 * b, bins[b] & 65535u);
        atomicAdd(out + 2 * b + 1, bins[b] >> 16);
    }
}
