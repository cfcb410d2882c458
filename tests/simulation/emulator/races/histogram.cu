// Counting with and without atomics.
// launch: grid 2, block 64: in int32[128] below 8, inout int32[8]

extern "C" __global__ void racy_shared_counts(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    int bin = in[blockIdx.x * 64 + t];
    int before = counts[bin];   // @get
    counts[bin] = before + 1;   // race WAR counts @get; race WAW counts here
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], counts[t]);
}

extern "C" __global__ void clean_shared_counts(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    int bin = in[blockIdx.x * 64 + t];
    atomicAdd(&counts[bin], 1);
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], counts[t]);
}

extern "C" __global__ void racy_global_counts(const int* in, int* bins) {
    int bin = in[blockIdx.x * 64 + threadIdx.x];
    int before = bins[bin];  // @load
    bins[bin] = before + 1;  // race WAR bins @load; race WAW bins here
}

extern "C" __global__ void clean_global_counts(const int* in, int* bins) {
    int bin = in[blockIdx.x * 64 + threadIdx.x];
    atomicAdd(&bins[bin], 1);
}

// Counting before the counters are zero.
extern "C" __global__ void racy_zeroing(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;                        // @zero
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);  // race WAW counts @zero
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], counts[t]);
}

extern "C" __global__ void clean_zeroing(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], counts[t]);
}

// Reading the counters while others still count.
extern "C" __global__ void racy_reading_early(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);  // @count
    if (t < 8) atomicAdd(&bins[t], counts[t]);       // race RAW counts @count
}

extern "C" __global__ void clean_reading_early(const int* in, int* bins) {
    __shared__ int counts[8];
    int t = threadIdx.x;
    if (t < 8) counts[t] = 0;
    __syncthreads();
    atomicAdd(&counts[in[blockIdx.x * 64 + t]], 1);
    __syncthreads();
    if (t < 8) atomicAdd(&bins[t], counts[t]);
}

// A plain read beside other blocks' atomics; an atomic one is ordered with them.
extern "C" __global__ void racy_plain_read_of_total(const int* in, int* bins) {
    if (threadIdx.x == 0) {
        atomicAdd(&bins[0], 1);  // @add
        int seen = bins[0];      // race RAW bins @add
        atomicMax(&bins[1], seen);
    }
}

extern "C" __global__ void clean_plain_read_of_total(const int* in, int* bins) {
    if (threadIdx.x == 0) {
        atomicAdd(&bins[0], 1);
        int seen = atomicAdd(&bins[0], 0);
        atomicMax(&bins[1], seen);
    }
}
