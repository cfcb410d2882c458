// Sorting and packing.
// launch: grid 1, block 64: in int32[130], out int32[130]

// A bitonic network: partners up to 16 apart share a warp, partners 32 apart do not.
extern "C" __global__ void racy_bitonic(const int* in, int* out) {
    __shared__ int keys[64];
    int t = threadIdx.x;
    keys[t] = in[t];
    __syncthreads();
    for (int size = 2; size <= 64; size *= 2) {
        for (int apart = size / 2; apart > 0; apart /= 2) {
            int partner = t ^ apart;
            if (partner > t) {
                int a = keys[t];        // @a; race RAW keys @high
                int b = keys[partner];  // @b; race RAW keys @low; race RAW keys @high
                bool up = (t & size) == 0;
                keys[t] = up == (a < b) ? a : b;        // @low; race WAR keys @b
                keys[partner] = up == (a < b) ? b : a;  // @high; race WAR keys @a; race WAR keys @b; race WAW keys @low; race WAW keys here
            }
            __syncwarp();
        }
    }
    __syncthreads();
    out[t] = keys[t];
}

extern "C" __global__ void clean_bitonic(const int* in, int* out) {
    __shared__ int keys[64];
    int t = threadIdx.x;
    keys[t] = in[t];
    __syncthreads();
    for (int size = 2; size <= 64; size *= 2) {
        for (int apart = size / 2; apart > 0; apart /= 2) {
            int partner = t ^ apart;
            if (partner > t) {
                int a = keys[t];
                int b = keys[partner];
                bool up = (t & size) == 0;
                keys[t] = up == (a < b) ? a : b;
                keys[partner] = up == (a < b) ? b : a;
            }
            __syncthreads();
        }
    }
    __syncwarp();
    out[t] = keys[t];
}

// Odd and even pairs in turn: after each turn, not after every other.
extern "C" __global__ void racy_odd_even(const int* in, int* out) {
    __shared__ int keys[130];
    int t = threadIdx.x;
    keys[t] = in[t];
    keys[t + 64] = in[t + 64];
    if (t < 2) keys[t + 128] = in[t + 128];
    __syncthreads();
    for (int turn = 0; turn < 130; ++turn) {
        int i = 2 * t + turn % 2;
        int a = keys[i];                // @a
        int b = keys[i + 1];            // race RAW keys @low
        keys[i] = a < b ? a : b;        // @low
        keys[i + 1] = a < b ? b : a;    // race WAR keys @a; race WAW keys @low
        if (turn % 2 == 1) __syncthreads();
    }
    for (int k = t; k < 130; k += 64) out[k] = keys[k];
}

extern "C" __global__ void clean_odd_even(const int* in, int* out) {
    __shared__ int keys[130];
    int t = threadIdx.x;
    keys[t] = in[t];
    keys[t + 64] = in[t + 64];
    if (t < 2) keys[t + 128] = in[t + 128];
    __syncthreads();
    for (int turn = 0; turn < 130; ++turn) {
        int i = 2 * t + turn % 2;
        int a = keys[i];
        int b = keys[i + 1];
        keys[i] = a < b ? a : b;
        keys[i + 1] = a < b ? b : a;
        if (turn % 2 < 2) __syncthreads();
    }
    for (int k = t; k < 130; k += 64) out[k] = keys[k];
}

// Sorting by rank: equal keys need different ranks.
// launch: grid 1, block 64: in int32[64] below 8, out int32[64]
extern "C" __global__ void racy_rank_of_equals(const int* in, int* out) {
    int t = threadIdx.x, mine = in[t], rank = 0;
    for (int k = 0; k < 64; ++k) {
        if (in[k] < mine) ++rank;
    }
    out[rank] = t;  // race WAW out here
}

extern "C" __global__ void clean_rank_of_equals(const int* in, int* out) {
    int t = threadIdx.x, mine = in[t], rank = 0;
    for (int k = 0; k < 64; ++k) {
        if (in[k] < mine || (in[k] == mine && k < t)) ++rank;
    }
    out[rank] = t;
}

// The same with the key itself: equals overwrite each other with equals.
extern "C" __global__ void racy_equal_keys(const int* in, int* out) {
    int t = threadIdx.x, mine = in[t], rank = 0;
    for (int k = 0; k < 64; ++k) {
        if (in[k] < mine) ++rank;
    }
    out[rank] = mine;  // race info WAW out here
}

extern "C" __global__ void clean_equal_keys(const int* in, int* out) {
    int t = threadIdx.x, mine = in[t], rank = 0;
    for (int k = 0; k < 64; ++k) {
        if (in[k] < mine || (in[k] == mine && k < t)) ++rank;
    }
    out[rank] = mine;
}

// Packing: every thread takes the next free place.
// launch: grid 2, block 64: in int32[128], out int32[128]
extern "C" __global__ void racy_next_place(const int* in, int* out) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    int place = count;  // @take
    count = place + 1;  // race WAR count @take; race WAW count here
    out[blockIdx.x * 64 + place] = in[blockIdx.x * 64 + t];  // race WAW out here
}

extern "C" __global__ void clean_next_place(const int* in, int* out) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0) count = 0;
    __syncthreads();
    int place = atomicAdd(&count, 1);
    out[blockIdx.x * 64 + place] = in[blockIdx.x * 64 + t];
}

// Sort until a turn changes nothing: the flag must have been read before it is cleared.
// launch: grid 1, block 32 2: in int32[65], out int32[65]
extern "C" __global__ void racy_until_nothing_changes(const int* in, int* out) {
    __shared__ int keys[130];
    __shared__ int changed;
    int t = threadIdx.y * 32 + threadIdx.x, again = 1;
    keys[2 * t] = in[t];
    keys[2 * t + 1] = in[t + 1];
    for (int turn = 0; turn < 4 && again; ++turn) {
        if (t == 0) changed = 0;  // race WAR changed @again
        __syncthreads();
        int a = keys[2 * t], b = keys[2 * t + 1];
        if (a > b) atomicExch(&changed, 1);
        keys[2 * t] = a < b ? a : b;
        keys[2 * t + 1] = a < b ? b : a;
        __syncthreads();
        again = changed;  // @again
    }
    out[t] = keys[2 * t];
}

extern "C" __global__ void clean_until_nothing_changes(const int* in, int* out) {
    __shared__ int keys[130];
    __shared__ int changed;
    int t = threadIdx.y * 32 + threadIdx.x, again = 1;
    keys[2 * t] = in[t];
    keys[2 * t + 1] = in[t + 1];
    for (int turn = 0; turn < 4 && again; ++turn) {
        __syncthreads();
        if (t == 0) changed = 0;
        __syncthreads();
        int a = keys[2 * t], b = keys[2 * t + 1];
        if (a > b) atomicExch(&changed, 1);
        keys[2 * t] = a < b ? a : b;
        keys[2 * t + 1] = a < b ? b : a;
        __syncthreads();
        again = changed;
    }
    out[t] = keys[2 * t];
}
