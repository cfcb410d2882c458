// Barriers for some of the warps of a block, and warps that only say that they were there.
#define SYNC(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory")
#define ARRIVE(id, threads) asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory")

// launch: grid 2, block 128: in float32[256], out float32[256]

// A barrier of each half of the block orders nothing between the halves.
extern "C" __global__ void racy_half_a_block(const float* in, float* out) {
    __shared__ float row[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    row[t] = in[i];  // @put
    SYNC(1 + t / 64, 64);
    out[i] = row[127 - t];  // race RAW row @put
}

extern "C" __global__ void clean_half_a_block(const float* in, float* out) {
    __shared__ float row[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    row[t] = in[i];
    SYNC(1 + t / 64, 64);
    out[i] = row[63 - t % 64 + t / 64 * 64];
}

// Pairs of warps meet at a barrier of their own.
extern "C" __global__ void racy_pairs_of_warps(const float* in, float* out) {
    __shared__ float row[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, pair = t / 64;
    row[t] = in[i];  // @put
    SYNC(pair + 1, 64);
    out[i] = row[t ^ 64];  // race RAW row @put
}

extern "C" __global__ void clean_pairs_of_warps(const float* in, float* out) {
    __shared__ float row[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t, pair = t / 64;
    row[t] = in[i];
    SYNC(pair + 1, 64);
    out[i] = row[t ^ 32];
}

// Arriving says that one was there; only who waits knows it of others.
// launch: grid 2, block 64: in float32[128], out float32[128]
extern "C" __global__ void racy_producer_arrives(const float* in, float* out) {
    __shared__ float row[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) {
        row[t] = in[i];  // @put
        SYNC(1, 64);
        out[i] = 0.0f;
    } else {
        ARRIVE(1, 64);
        out[i] = row[63 - t];  // race RAW row @put
    }
}

extern "C" __global__ void clean_producer_arrives(const float* in, float* out) {
    __shared__ float row[32];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 32) {
        row[t] = in[i];
        ARRIVE(1, 64);
        out[i] = 0.0f;
    } else {
        SYNC(1, 64);
        out[i] = row[63 - t];
    }
}

// Who only arrives must not look at what the others did.
extern "C" __global__ void racy_arriving_is_not_waiting(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    if (t >= 32) SYNC(1, 64);
    if (t < 32) ARRIVE(1, 64);
    out[i] = row[63 - t];  // race RAW row @put
}

extern "C" __global__ void clean_arriving_is_not_waiting(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t >= 32) SYNC(1, 64);
    if (t < 32) SYNC(1, 64);
    out[i] = row[63 - t];
}

// Full and empty: the consumer gives the buffer back when it has read it, not before.
extern "C" __global__ void racy_full_and_empty(const float* in, float* out) {
    __shared__ float buffer[32];
    int t = threadIdx.x, lane = t % 32;
    for (int turn = 0; turn < 4; ++turn) {
        if (t < 32) {
            SYNC(1, 64);
            if (turn < 3) ARRIVE(2, 64);
            float value = buffer[31 - lane];  // @read
            out[blockIdx.x * 64 + lane + turn % 2 * 32] = value;
        } else {
            if (turn > 0) SYNC(2, 64);
            buffer[lane] = in[turn * 32 + lane];  // race WAR buffer @read
            ARRIVE(1, 64);
        }
    }
}

extern "C" __global__ void clean_full_and_empty(const float* in, float* out) {
    __shared__ float buffer[32];
    int t = threadIdx.x, lane = t % 32;
    for (int turn = 0; turn < 4; ++turn) {
        if (t < 32) {
            SYNC(1, 64);
            float value = buffer[31 - lane];
            out[blockIdx.x * 64 + lane + turn % 2 * 32] = value;
            if (turn < 3) ARRIVE(2, 64);
        } else {
            if (turn > 0) SYNC(2, 64);
            buffer[lane] = in[turn * 32 + lane];
            ARRIVE(1, 64);
        }
    }
}

// Two different barriers at two places, or one that both sides come to.
extern "C" __global__ void racy_two_places(const float* in, float* out) {  // hangs
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t < 32) {
        SYNC(1, 64);  // barrier-divergence
    } else {
        SYNC(2, 64);  // barrier-divergence
    }
    out[i] = row[63 - t];
}

extern "C" __global__ void clean_two_places(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    if (t < 32) {
        SYNC(1, 64);
    } else {
        SYNC(1, 64);
    }
    out[i] = row[63 - t];
}

// More threads expected than there are.
extern "C" __global__ void racy_too_many_expected(const float* in, float* out) {  // hangs
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    SYNC(1, 96);  // barrier-divergence
    out[i] = row[63 - t];
}

extern "C" __global__ void clean_too_many_expected(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    SYNC(1, 64);
    out[i] = row[63 - t];
}

// Counting votes at a barrier orders memory; counting them within a warp does not.
extern "C" __global__ void racy_votes_at_a_barrier(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @put
    int positive = __any_sync(~0u, in[i] > 0.0f);
    out[i] = positive ? row[63 - t] : 0.0f;  // race RAW row @put
}

extern "C" __global__ void clean_votes_at_a_barrier(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    int positive = __syncthreads_or(in[i] > 0.0f);
    out[i] = positive ? row[63 - t] : 0.0f;
}
