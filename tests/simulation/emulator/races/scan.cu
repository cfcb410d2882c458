// Prefix sums over a block (Hillis and Steele).
// launch: grid 2, block 64: in float32[128], out float32[128]

// One buffer: between reading the old sums and writing the new ones stands a barrier.
extern "C" __global__ void racy_one_buffer(const float* in, float* out) {
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float left = t >= step ? sums[t - step] : 0.0f;  // @old
        sums[t] += left;                                 // race WAR sums @old
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sums[t];
}

extern "C" __global__ void clean_one_buffer(const float* in, float* out) {
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float left = t >= step ? sums[t - step] : 0.0f;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sums[t];
}

// The barrier at the end of a turn.
extern "C" __global__ void racy_end_of_turn(const float* in, float* out) {
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float left = t >= step ? sums[t - step] : 0.0f;  // race RAW sums @new
        __syncthreads();
        sums[t] += left;                                 // @new
    }
    out[blockIdx.x * 64 + t] = sums[t];
}

extern "C" __global__ void clean_end_of_turn(const float* in, float* out) {
    __shared__ float sums[64];
    int t = threadIdx.x;
    sums[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float left = t >= step ? sums[t - step] : 0.0f;
        __syncthreads();
        sums[t] += left;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sums[t];
}

// Two buffers in turn need one barrier a turn, if they really are two.
extern "C" __global__ void racy_two_buffers(const float* in, float* out) {
    __shared__ float sums[2][64];
    int t = threadIdx.x, from = 0;
    sums[0][t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float left = t >= step ? sums[from][t - step] : 0.0f;  // @from
        sums[from][t] = sums[from][t] + left;                  // race WAR sums @from
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sums[from][t];
}

extern "C" __global__ void clean_two_buffers(const float* in, float* out) {
    __shared__ float sums[2][64];
    int t = threadIdx.x, from = 0;
    sums[0][t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float left = t >= step ? sums[from][t - step] : 0.0f;
        sums[1 - from][t] = sums[from][t] + left;
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sums[from][t];
}
