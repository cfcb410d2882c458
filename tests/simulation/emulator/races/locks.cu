// Locks, tickets and barriers of the whole grid, made by hand.
// launch: grid 4, block 32: in float32[4], inout float32[1] all 0, inout int32[2] all 0

// Letting go of a lock must come after what it protects.
extern "C" __global__ void racy_fence_before_unlock(const float* in, float* total, int* lock) {
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    float before = total[0];              // @get; race RAW total @set
    total[0] = before + in[blockIdx.x];  // @set; race WAR total @get; race WAW total here
    atomicExch(lock, 0);
}

extern "C" __global__ void clean_fence_before_unlock(const float* in, float* total, int* lock) {
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    float before = total[0];
    total[0] = before + in[blockIdx.x];
    __threadfence();
    atomicExch(lock, 0);
}

// Taking it must come before.
extern "C" __global__ void racy_fence_after_lock(const float* in, float* total, int* lock) {
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    float before = total[0];              // @get; race RAW total @set
    total[0] = before + in[blockIdx.x];  // @set; race WAR total @get; race WAW total here
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void clean_fence_after_lock(const float* in, float* total, int* lock) {
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    float before = total[0];
    total[0] = before + in[blockIdx.x];
    __threadfence();
    atomicExch(lock, 0);
}

// No lock at all where everybody takes another one.
extern "C" __global__ void racy_one_lock_each(const float* in, float* total, int* lock) {
    if (threadIdx.x > 0) return;
    int* mine = lock + blockIdx.x % 2;
    while (atomicCAS(mine, 0, 1) != 0) {}
    __threadfence();
    float before = total[0];              // @get; race RAW total @set
    total[0] = before + in[blockIdx.x];  // @set; race WAR total @get; race WAW total here
    __threadfence();
    atomicExch(mine, 0);
}

extern "C" __global__ void clean_one_lock_each(const float* in, float* total, int* lock) {
    if (threadIdx.x > 0) return;
    int* mine = lock + blockIdx.x / 4;
    while (atomicCAS(mine, 0, 1) != 0) {}
    __threadfence();
    float before = total[0];
    total[0] = before + in[blockIdx.x];
    __threadfence();
    atomicExch(mine, 0);
}

// Tickets: whose number is called may go in.
extern "C" __global__ void racy_tickets(const float* in, float* total, int* numbers) {
    if (threadIdx.x > 0) return;
    int mine = atomicAdd(&numbers[0], 1);
    while (atomicAdd(&numbers[1], 0) != mine) {}
    __threadfence();
    float before = total[0];              // @get; race RAW total @set
    total[0] = before + in[blockIdx.x];  // @set; race WAR total @get; race WAW total here
    atomicAdd(&numbers[1], 1);
}

extern "C" __global__ void clean_tickets(const float* in, float* total, int* numbers) {
    if (threadIdx.x > 0) return;
    int mine = atomicAdd(&numbers[0], 1);
    while (atomicAdd(&numbers[1], 0) != mine) {}
    __threadfence();
    float before = total[0];
    total[0] = before + in[blockIdx.x];
    __threadfence();
    atomicAdd(&numbers[1], 1);
}

// All blocks meet: what they wrote before is there for all afterwards.
// launch: grid 4, block 64: in float32[256], inout float32[256], inout int32[1] all 0, out float32[256]
extern "C" __global__ void racy_grid_barrier(const float* in, float* data, int* count, float* out) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];  // @data
    __syncthreads();
    if (t == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = data[255 - i];  // race RAW data @data
}

extern "C" __global__ void clean_grid_barrier(const float* in, float* data, int* count, float* out) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = data[255 - i];
}

// The block must be complete before one thread announces it.
extern "C" __global__ void racy_announced_too_early(const float* in, float* data, int* count, float* out) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];  // @data
    __threadfence();
    if (t == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = data[255 - i];  // race RAW data @data
}

extern "C" __global__ void clean_announced_too_early(const float* in, float* data, int* count, float* out) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];
    __threadfence();
    __syncthreads();
    if (t == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = data[255 - i];
}

// Everybody must wait, not only the thread that counts.
extern "C" __global__ void racy_only_one_waits(const float* in, float* data, int* count, float* out) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];  // @data
    __threadfence();
    __syncthreads();
    if (t == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
        __threadfence();
    }
    out[i] = data[255 - i];  // race RAW data @data
}

extern "C" __global__ void clean_only_one_waits(const float* in, float* data, int* count, float* out) {
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];
    __threadfence();
    __syncthreads();
    if (t == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    out[i] = data[255 - i];
}

// The last block sets the counter back; another must not do so while blocks still count.
extern "C" __global__ void racy_counter_set_back(const float* in, float* data, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;  // @ticket
    __syncthreads();
    if (last) out[t] = data[t];
    if (t == 0 && blockIdx.x == 1) *count = 0;  // race WAW count @ticket
}

extern "C" __global__ void clean_counter_set_back(const float* in, float* data, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    data[i] = 2.0f * in[i];
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(count, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) out[t] = data[t];
    if (t == 0 && last) atomicExch(count, 0);
}
