// Counters of bytes, of warps and of the grid.
// launch: grid 2, block 64: in int32[128] all 3, out int32[16]

// Counters of one byte: neighbours in a word are no matter, one byte for two threads is.
extern "C" __global__ void racy_byte_counters(const int* in, int* bins) {
    __shared__ unsigned char counts[8][64];
    int t = threadIdx.x;
    for (int bin = 0; bin < 8; ++bin) counts[bin][t] = 0;
    __syncthreads();
    int bin = in[blockIdx.x * 64 + t];
    counts[bin][t / 2] += 1;  // race warning WAR counts here; race warning WAW counts here
    __syncthreads();
    if (t < 8) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += counts[t][k];
        bins[blockIdx.x * 8 + t] = sum;
    }
}

extern "C" __global__ void clean_byte_counters(const int* in, int* bins) {
    __shared__ unsigned char counts[8][64];
    int t = threadIdx.x;
    for (int bin = 0; bin < 8; ++bin) counts[bin][t] = 0;
    __syncthreads();
    int bin = in[blockIdx.x * 64 + t];
    counts[bin][t] += 1;
    __syncthreads();
    if (t < 8) {
        int sum = 0;
        for (int k = 0; k < 64; ++k) sum += counts[t][k];
        bins[blockIdx.x * 8 + t] = sum;
    }
}

// Each warp counts for itself; adding up concerns all of them.
// launch: grid 2, block 64: in int32[128] below 8, inout int32[8] all 0
extern "C" __global__ void racy_counters_of_warps(const int* in, int* bins) {
    __shared__ int counts[2][8];
    int t = threadIdx.x;
    if (t < 16) counts[t / 8][t % 8] = 0;
    __syncthreads();
    atomicAdd(&counts[t / 32][in[blockIdx.x * 64 + t]], 1);  // @count
    __syncwarp();
    if (t < 8) atomicAdd(&bins[t], counts[0][t] + counts[1][t]);  // race RAW counts @count
}

extern "C" __global__ void clean_counters_of_warps(const int* in, int* bins) {
    __shared__ int counts[2][8];
    int t = threadIdx.x;
    if (t < 16) counts[t / 8][t % 8] = 0;
    __syncthreads();
    atomicAdd(&counts[t / 32][in[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], counts[0][t] + counts[1][t]);
}

// What a block has counted joins the total of all.
extern "C" __global__ void racy_joining_the_total(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    if (t < 8) bins[t] += counts[t];  // race WAR bins here; race WAW bins here
}

extern "C" __global__ void clean_joining_the_total(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], counts[t]);
}

// One block clears the total while another may already count.
extern "C" __global__ void racy_clearing_the_total(const int* in, int* bins) {
    int t = threadIdx.x;
    if (blockIdx.x == 0 && t < 8) bins[t] = 0;  // @clear
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * 64 + t]], 1);  // race WAW bins @clear
}

extern "C" __global__ void clean_clearing_the_total(const int* in, int* bins) {
    int t = threadIdx.x;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * 64 + t]], 1);
}

// The highest count: looking and writing are two steps.
// launch: grid 2, block 64: in int32[128], out int32[2]
extern "C" __global__ void racy_highest(const int* in, int* out) {
    __shared__ int best;
    int t = threadIdx.x;
    if (t == 0) best = -1;
    __syncthreads();
    int mine = in[blockIdx.x * 64 + t];
    if (mine > best)   // @look
        best = mine;   // race WAR best @look; race WAW best here
    __syncthreads();
    if (t == 0) out[blockIdx.x] = best;
}

extern "C" __global__ void clean_highest(const int* in, int* out) {
    __shared__ int best;
    int t = threadIdx.x;
    if (t == 0) best = -1;
    __syncthreads();
    int mine = in[blockIdx.x * 64 + t];
    atomicMax(&best, mine);
    __syncthreads();
    if (t == 0) out[blockIdx.x] = best;
}

// Cumulative counts: all must be counted before the sums are formed.
// launch: grid 2, block 64: in int32[128] below 8, out int32[16]
extern "C" __global__ void racy_cumulative(const int* in, int* out) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);  // @count
    unsigned ready = __ballot_sync(~0u, t >= 0);
    if (t < 8 && ready) {
        int sum = 0;
        for (int bin = 0; bin <= t; ++bin) sum += counts[bin];  // race RAW counts @count
        out[blockIdx.x * 8 + t] = sum;
    }
}

extern "C" __global__ void clean_cumulative(const int* in, int* out) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);
    unsigned ready = __syncthreads_and(t >= 0);
    if (t < 8 && ready) {
        int sum = 0;
        for (int bin = 0; bin <= t; ++bin) sum += counts[bin];
        out[blockIdx.x * 8 + t] = sum;
    }
}
