// Order that comes of scopes, of updates that are observed, and of locks, whoever comes first.
// launch: grid 4, block 32: in int32[4], inout int32[8] all 0, inout int32[4] all 0

// The block that counted last may set the counter back.
extern "C" __global__ void racy_counter_set_back(const int* in, int* part, int* count) {
    if (threadIdx.x > 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count[0], 1) == 0) {  // @count
        count[0] = 0;  // race WAW count @count
    }
}

extern "C" __global__ void clean_counter_set_back(const int* in, int* part, int* count) {
    if (threadIdx.x > 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count[0], 1) == gridDim.x - 1) {
        count[0] = 0;
    }
}

// Without a fence an update tells of itself alone.
extern "C" __global__ void racy_update_tells_of_itself(const int* in, int* part, int* count) {
    if (threadIdx.x > 0) return;
    part[blockIdx.x] = in[blockIdx.x];  // @part
    if (atomicAdd(&count[0], 1) == gridDim.x - 1) {
        count[0] = part[1];  // race RAW part @part
    }
}

extern "C" __global__ void clean_update_tells_of_itself(const int* in, int* part, int* count) {
    if (threadIdx.x > 0) return;
    part[blockIdx.x] = in[blockIdx.x];
    if (atomicAdd(&count[0], 1) == gridDim.x - 1) {
        count[0] = in[1];
    }
}

// Atomic operations for the threads of one block, by several blocks.
extern "C" __global__ void racy_narrow_updates(const int* in, int* part, int* count) {
    if (threadIdx.x > 0) return;
    atomicAdd_block(&count[0], in[blockIdx.x]);  // race WAW count here
}

extern "C" __global__ void clean_narrow_updates(const int* in, int* part, int* count) {
    if (threadIdx.x > 0) return;
    atomicAdd_block(&count[blockIdx.x], in[blockIdx.x]);
}

// One of those who take a lock does without the fence behind it.
extern "C" __global__ void racy_lock_of_one(const int* in, int* data, int* lock) {
    if (threadIdx.x > 0) return;
    while (atomicCAS(&lock[0], 0, 1) != 0) {}
    if (blockIdx.x > 0) __threadfence();
    data[0] += in[blockIdx.x];  // race RAW data here; race WAR data here; race WAW data here
    __threadfence();
    atomicExch(&lock[0], 0);
}

extern "C" __global__ void clean_lock_of_one(const int* in, int* data, int* lock) {
    if (threadIdx.x > 0) return;
    while (atomicCAS(&lock[0], 0, 1) != 0) {}
    if (blockIdx.x >= 0) __threadfence();
    data[0] += in[blockIdx.x];
    __threadfence();
    atomicExch(&lock[0], 0);
}

// A volatile word for which nobody waits is data.
extern "C" __global__ void racy_volatile_under_a_lock(const int* in, int* data, int* lock) {
    volatile int* word = data;
    if (threadIdx.x > 0) return;
    while (atomicCAS(&lock[0], 0, 1) != 0) {}
    __threadfence();
    word[0] = in[blockIdx.x];  // race WAW data here
    atomicExch(&lock[0], 0);
}

extern "C" __global__ void clean_volatile_under_a_lock(const int* in, int* data, int* lock) {
    volatile int* word = data;
    if (threadIdx.x > 0) return;
    while (atomicCAS(&lock[0], 0, 1) != 0) {}
    __threadfence();
    word[0] = in[blockIdx.x];
    __threadfence();
    atomicExch(&lock[0], 0);
}

// A lock for the work of a whole block.
// launch: grid 4, block 64: in int32[64], inout int32[64] all 0, inout int32[4] all 0
extern "C" __global__ void racy_lock_of_a_block(const int* in, int* data, int* lock) {
    if (threadIdx.x == 0) { while (atomicCAS(&lock[0], 0, 1) != 0) {} __threadfence(); }
    __syncthreads();
    data[threadIdx.x] += in[threadIdx.x];  // race RAW data here; race WAR data here; race WAW data here
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(&lock[0], 0);
}

extern "C" __global__ void clean_lock_of_a_block(const int* in, int* data, int* lock) {
    if (threadIdx.x == 0) { while (atomicCAS(&lock[0], 0, 1) != 0) {} __threadfence(); }
    __syncthreads();
    data[threadIdx.x] += in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); atomicExch(&lock[0], 0); }
}

// A lock for the work of a warp.
extern "C" __global__ void racy_lock_of_a_warp(const int* in, int* data, int* lock) {
    int lane = threadIdx.x % 32;
    if (lane == 0) while (atomicCAS(&lock[0], 0, 1) != 0) {}
    __threadfence();
    __syncwarp();
    data[lane] += in[lane];  // race RAW data here; race WAR data here; race WAW data here
    if (lane == 0) { __threadfence(); atomicExch(&lock[0], 0); }
}

extern "C" __global__ void clean_lock_of_a_warp(const int* in, int* data, int* lock) {
    int lane = threadIdx.x % 32;
    if (lane == 0) while (atomicCAS(&lock[0], 0, 1) != 0) {}
    __threadfence();
    __syncwarp();
    data[lane] += in[lane];
    __syncwarp();
    if (lane == 0) { __threadfence(); atomicExch(&lock[0], 0); }
}

// __syncwarp() in both branches is one, with one mask.
extern "C" __global__ void racy_syncwarp_of_halves(const int* in, int* data, int* lock) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t & 1) { s[t] = in[t]; __syncwarp(0xaaaaaaaa); }  // @odd
    else { s[t] = -in[t]; __syncwarp(0x55555555); }       // @even
    if (blockIdx.x == 0) data[t] = s[t ^ 1];              // race warning RAW s @odd; race warning RAW s @even
}

extern "C" __global__ void clean_syncwarp_of_halves(const int* in, int* data, int* lock) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t & 1) { s[t] = in[t]; __syncwarp(); }
    else { s[t] = -in[t]; __syncwarp(); }
    if (blockIdx.x == 0) data[t] = s[t ^ 1];
}

// From warp to warp by a fence of the block, and from there to another block.
// launch: grid 2, block 64: in int32[4], inout int32[4] all 0, inout int32[4] all 0
extern "C" __global__ void racy_scope_by_scope(const int* in, int* data, int* flag) {
    int b = blockIdx.x, t = threadIdx.x;
    if (b == 0 && t == 0) { data[0] = in[0]; __threadfence_block(); atomicExch(&flag[0], 1); }  // @data
    if (b == 0 && t == 32) {
        while (atomicAdd(&flag[0], 0) != 1) {}
        __threadfence_block();
        atomicExch(&flag[0], 2);
    }
    if (b == 1 && t == 0) { while (atomicAdd(&flag[0], 0) != 2) {} __threadfence(); data[1] = data[0]; }  // race RAW data @data
}

extern "C" __global__ void clean_scope_by_scope(const int* in, int* data, int* flag) {
    int b = blockIdx.x, t = threadIdx.x;
    if (b == 0 && t == 0) { data[0] = in[0]; __threadfence_block(); atomicExch(&flag[0], 1); }
    if (b == 0 && t == 32) {
        while (atomicAdd(&flag[0], 0) != 1) {}
        __threadfence();
        atomicExch(&flag[0], 2);
    }
    if (b == 1 && t == 0) { while (atomicAdd(&flag[0], 0) != 2) {} __threadfence(); data[1] = data[0]; }
}

// A barrier of the whole grid, made by hand.
__device__ void grid_barrier(int* count, volatile int* phase) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) { __threadfence(); phase[0] = 1; }
        else while (phase[0] == 0) {}
        __threadfence();
    }
    __syncthreads();
}

// launch: grid 4, block 64: in int32[256], inout int32[256] all 0, inout int32[4] all 0
extern "C" __global__ void racy_phases_of_a_grid(const int* in, int* data, int* words) {
    int i = blockIdx.x * 64 + threadIdx.x;
    data[i] = in[i];  // @store
    int next = data[(i + 64) % 256];  // race RAW data @store
    grid_barrier(&words[0], &words[1]);
    if (next == -1) words[3] = in[0];
}

extern "C" __global__ void clean_phases_of_a_grid(const int* in, int* data, int* words) {
    int i = blockIdx.x * 64 + threadIdx.x;
    data[i] = in[i];
    grid_barrier(&words[0], &words[1]);
    int next = data[(i + 64) % 256];
    if (next == -1) words[3] = in[0];
}
