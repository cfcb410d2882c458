// Sums by warps, by blocks and by the whole grid.
// launch: grid 2, block 32: in float32[64], out float32[2]

// The steps within one warp.
extern "C" __global__ void racy_unrolled_steps(const float* in, float* out) {
    __shared__ float part[32];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 32 + t];
    __syncwarp();
    if (t < 16) part[t] += part[t + 16];  // @half
    if (t < 8) part[t] += part[t + 8];  // race warning RAW part @half
    __syncwarp();
    if (t == 0) out[blockIdx.x] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];
}

extern "C" __global__ void clean_unrolled_steps(const float* in, float* out) {
    __shared__ float part[32];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 32 + t];
    __syncwarp();
    if (t < 16) part[t] += part[t + 16];
    __syncwarp();
    if (t < 8) part[t] += part[t + 8];
    __syncwarp();
    if (t == 0) out[blockIdx.x] = part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7];
}

// Shuffles within the warps, shared memory between them.
// launch: grid 2, block 128: in float32[256], out float32[2]
extern "C" __global__ void racy_shuffle_then_shared(const float* in, float* out) {
    __shared__ float partial[4];
    int t = threadIdx.x;
    float sum = in[blockIdx.x * 128 + t];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t % 32 == 0) partial[t / 32] = sum;  // @partial
    if (t < 4) {
        sum = partial[t];  // race RAW partial @partial
        for (int step = 2; step > 0; step /= 2) sum += __shfl_down_sync(0xfu, sum, step);
        if (t == 0) out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void clean_shuffle_then_shared(const float* in, float* out) {
    __shared__ float partial[4];
    int t = threadIdx.x;
    float sum = in[blockIdx.x * 128 + t];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t % 32 == 0) partial[t / 32] = sum;
    __syncthreads();
    if (t < 4) {
        sum = partial[t];
        for (int step = 2; step > 0; step /= 2) sum += __shfl_down_sync(0xfu, sum, step);
        if (t == 0) out[blockIdx.x] = sum;
    }
}

// The same twice: the second sum must not overwrite what the first still needs.
// launch: grid 1, block 128: in float32[256], out float32[2]
extern "C" __global__ void racy_two_sums(const float* in, float* out) {
    __shared__ float partial[4];
    int t = threadIdx.x;
    for (int round = 0; round < 2; ++round) {
        float sum = in[round * 128 + t];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (t % 32 == 0) partial[t / 32] = sum;  // race WAR partial @read
        __syncthreads();
        if (t < 4) {
            sum = partial[t];  // @read
            for (int step = 2; step > 0; step /= 2) sum += __shfl_down_sync(0xfu, sum, step);
            if (t == 0) out[round] = sum;
        }
    }
}

extern "C" __global__ void clean_two_sums(const float* in, float* out) {
    __shared__ float partial[4];
    int t = threadIdx.x;
    for (int round = 0; round < 2; ++round) {
        float sum = in[round * 128 + t];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (t % 32 == 0) partial[t / 32] = sum;
        __syncthreads();
        if (t < 4) {
            sum = partial[t];
            for (int step = 2; step > 0; step /= 2) sum += __shfl_down_sync(0xfu, sum, step);
            if (t == 0) out[round] = sum;
        }
        __syncthreads();
    }
}

// The last block to finish adds up what all have left, one value each.
// launch: grid 4, block 64: in float32[256], inout float32[4], inout int32[1] all 0, out float32[1]
extern "C" __global__ void racy_last_block(const float* in, float* sums, int* count, float* out) {
    __shared__ float part[64];
    __shared__ int last;
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 64; ++k) sum += part[k];
        sums[blockIdx.x] = sum;  // @store
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float total = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) total += sums[b];  // race RAW sums @store
        out[0] = total;
    }
}

extern "C" __global__ void clean_last_block(const float* in, float* sums, int* count, float* out) {
    __shared__ float part[64];
    __shared__ int last;
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 64; ++k) sum += part[k];
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        float total = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) total += sums[b];
        out[0] = total;
    }
}

// Every thread leaves a value; the barrier makes one thread's ticket speak for the block.
// launch: grid 4, block 64: in float32[256], inout float32[256], inout int32[1] all 0, out float32[64]
extern "C" __global__ void racy_ticket_of_the_block(const float* in, float* values, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    values[i] = 2.0f * in[i];  // @store
    __threadfence();
    if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += values[b * 64 + t];  // race RAW values @store
        out[t] = sum;
    }
}

extern "C" __global__ void clean_ticket_of_the_block(const float* in, float* values, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    values[i] = 2.0f * in[i];
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += values[b * 64 + t];
        out[t] = sum;
    }
}

// The barrier first, then one fence for all; a fence of the block does not reach the other blocks.
extern "C" __global__ void racy_one_fence_for_all(const float* in, float* values, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    values[i] = 2.0f * in[i];  // @store
    __syncthreads();
    if (t == 0) {
        __threadfence_block();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += values[b * 64 + t];  // race RAW values @store
        out[t] = sum;
    }
}

extern "C" __global__ void clean_one_fence_for_all(const float* in, float* values, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    values[i] = 2.0f * in[i];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += values[b * 64 + t];
        out[t] = sum;
    }
}

// A fence before the barrier is that thread's own: what the others wrote is not behind it.
extern "C" __global__ void racy_fence_before_barrier(const float* in, float* values, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    values[i] = 2.0f * in[i];  // @store
    if (t == 0) __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += values[b * 64 + t];  // race RAW values @store
        out[t] = sum;
    }
}

extern "C" __global__ void clean_fence_before_barrier(const float* in, float* values, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    values[i] = 2.0f * in[i];
    __syncthreads();
    if (t == 0) __threadfence();
    if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float sum = 0.0f;
        for (int b = 0; b < gridDim.x; ++b) sum += values[b * 64 + t];
        out[t] = sum;
    }
}

// Two passes in one launch: the second reads what other blocks wrote in the first.
// launch: grid 4, block 64: in float32[256], inout float32[4], out float32[4]
extern "C" __global__ void racy_two_passes(const float* in, float* sums, float* out) {
    int t = threadIdx.x;
    float sum = in[blockIdx.x * 64 + t];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t == 0) sums[blockIdx.x] = sum;  // @first
    __syncthreads();
    if (t == 1) out[blockIdx.x] = sums[0];  // race RAW sums @first
}

extern "C" __global__ void clean_two_passes(const float* in, float* sums, float* out) {
    int t = threadIdx.x;
    float sum = in[blockIdx.x * 64 + t];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (t == 0) sums[blockIdx.x] = sum;
    __syncthreads();
    if (t == 1) out[blockIdx.x] = sums[blockIdx.x];
}

// In place in global memory: every block keeps to its own stretch, or does not.
// launch: grid 2, block 64: inout float32[256], out float32[2]
extern "C" __global__ void racy_in_global_memory(float* data, float* out) {
    int t = threadIdx.x, base = blockIdx.x * 64;
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            float other = data[base + t + half];  // @far
            data[base + t] += other;              // race WAR data @far
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[base];
}

extern "C" __global__ void clean_in_global_memory(float* data, float* out) {
    int t = threadIdx.x, base = blockIdx.x * 128;
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            float other = data[base + t + half];
            data[base + t] += other;
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = data[base];
}
