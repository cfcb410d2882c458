// Sums over a block in shared memory.
// launch: grid 2, block 128: in float32[256], inout float32[2]

extern "C" __global__ void racy_barrier_in_loop(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            float other = part[t + half];  // race RAW part @add
            part[t] += other;              // @add
        }
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void clean_barrier_in_loop(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            float other = part[t + half];
            part[t] += other;
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void racy_barrier_before_loop(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];  // @fill
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            float other = part[t + half];  // race RAW part @fill
            part[t] += other;
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void clean_barrier_before_loop(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            float other = part[t + half];
            part[t] += other;
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// The last sum is read by everybody, not only by the thread that wrote it.
extern "C" __global__ void racy_everybody_reads_the_sum(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            float other = part[t + half];
            part[t] += other;  // @last
        }
    }
    float sum = part[0];  // race RAW part @last
    if (sum > 0.0f && t == 1) out[blockIdx.x] = sum;
}

extern "C" __global__ void clean_everybody_reads_the_sum(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            float other = part[t + half];
            part[t] += other;
        }
    }
    __syncthreads();
    float sum = part[0];
    if (sum > 0.0f && t == 1) out[blockIdx.x] = sum;
}

// Neighbours first, with strides that grow; adding one element too far meets the next thread's sum.
extern "C" __global__ void racy_interleaved(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        if (t % step == 0 && t + step < 128) {
            float other = part[t + step];  // @far
            part[t] += other;              // race WAR part @far
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void clean_interleaved(const float* in, float* out) {
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        if (t % (2 * step) == 0 && t + step < 128) {
            float other = part[t + step];
            part[t] += other;
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// One block adds into the total of all: with an atomic, or as if it were alone.
extern "C" __global__ void racy_blocks_add_to_total(const float* in, float* out) {
    float mine = in[blockIdx.x * 128];
    if (threadIdx.x == 0) {
        float before = out[0];   // @total
        out[0] = before + mine;  // race WAR out @total; race WAW out here
    }
}

extern "C" __global__ void clean_blocks_add_to_total(const float* in, float* out) {
    float mine = in[blockIdx.x * 128];
    if (threadIdx.x == 0) {
        float before = out[blockIdx.x];
        out[blockIdx.x] = before + mine;
    }
}
