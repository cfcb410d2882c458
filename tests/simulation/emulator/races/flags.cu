// Messages: data, a flag, and what has to stand between the two.
#include <cuda/atomic>

// launch: grid 2, block 32: in float32[64], inout float32[8], inout int32[1] all 0, out float32[64]

// The writer's fence keeps the data before the flag.
extern "C" __global__ void racy_fence_before_flag(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_fence_before_flag(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0];
    }
}

// The reader's fence keeps the data after the flag.
extern "C" __global__ void racy_fence_after_flag(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_fence_after_flag(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0];
    }
}

// A fence of the block is not enough between blocks.
extern "C" __global__ void racy_fence_of_the_block(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        __threadfence_block();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_fence_of_the_block(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0];
    }
}

// The flag goes up when everything is written.
extern "C" __global__ void racy_flag_too_early(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];
        __threadfence();
        atomicExch(flag, 1);
        data[1] = in[1];  // @late
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0] + data[1];  // race RAW data @late
    }
}

extern "C" __global__ void clean_flag_too_early(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];
        data[1] = in[1];
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        out[0] = data[0] + data[1];
    }
}

// One thread waits for the flag, and a barrier makes the others wait for it.
extern "C" __global__ void racy_all_wait_for_one(const float* in, float* data, int* flag, float* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 0) {
            data[0] = in[0];  // @data
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (t == 0) while (atomicAdd(flag, 0) == 0) {}
        out[t] = in[t] * data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_all_wait_for_one(const float* in, float* data, int* flag, float* out) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 0) {
            data[0] = in[0];
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (t == 0) while (atomicAdd(flag, 0) == 0) {}
        __syncthreads();
        out[t] = in[t] * data[0];
    }
}

// A flag is an atomic or a volatile variable; a plain one promises nothing.
extern "C" __global__ void racy_plain_flag(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        __threadfence();
        *flag = 1;  // @flag
    } else {
        while (*(volatile int*)flag == 0) {}  // race RAW flag @flag
        __threadfence();
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_plain_flag(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];
        __threadfence();
        *(volatile int*)flag = 1;
    } else {
        while (*(volatile int*)flag == 0) {}
        __threadfence();
        out[0] = data[0];
    }
}

// The C++ way: the store releases, the load acquires.
extern "C" __global__ void racy_relaxed_store(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_relaxed_store(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = in[0];
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        out[0] = data[0];
    }
}

extern "C" __global__ void racy_relaxed_load(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) {}
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_relaxed_load(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = in[0];
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) {}
        out[0] = data[0];
    }
}

// A release for the threads of the block does not reach another block.
extern "C" __global__ void racy_scope_of_the_block(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_block> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        ready.fetch_add(1, cuda::memory_order_release);  // @add
    } else {
        while (ready.fetch_add(0, cuda::memory_order_acquire) == 0) {}  // race WAW flag @add
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_scope_of_the_block(const float* in, float* data, int* flag, float* out) {
    if (threadIdx.x > 0) return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        data[0] = in[0];
        ready.fetch_add(1, cuda::memory_order_release);
    } else {
        while (ready.fetch_add(0, cuda::memory_order_acquire) == 0) {}
        out[0] = data[0];
    }
}

// From warp to warp through shared memory.
// launch: grid 2, block 64: in float32[128], out float32[128]
extern "C" __global__ void racy_warp_to_warp(const float* in, float* out) {
    __shared__ float row[32];
    __shared__ int ready;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        row[t] = in[i];  // @row
        __syncwarp();
        if (t == 0) atomicExch(&ready, 1);
    } else {
        while (atomicAdd(&ready, 0) == 0) {}
        __threadfence_block();
        out[i] = row[63 - t];  // race RAW row @row
    }
}

extern "C" __global__ void clean_warp_to_warp(const float* in, float* out) {
    __shared__ float row[32];
    __shared__ int ready;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t == 0) ready = 0;
    __syncthreads();
    if (t < 32) {
        row[t] = in[i];
        __syncwarp();
        __threadfence_block();
        if (t == 0) atomicExch(&ready, 1);
    } else {
        while (atomicAdd(&ready, 0) == 0) {}
        __threadfence_block();
        out[i] = row[63 - t];
    }
}

// A fence alone waits for nobody.
extern "C" __global__ void racy_fence_is_no_barrier(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];  // @row
    __threadfence_block();
    out[i] = row[63 - t];  // race RAW row @row
}

extern "C" __global__ void clean_fence_is_no_barrier(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    row[t] = in[i];
    __syncthreads();
    out[i] = row[63 - t];
}

// From the first block to the third by way of the second, who must fence as well.
// launch: grid 3, block 32: in float32[96], inout float32[8], inout int32[2] all 0, out float32[96]
extern "C" __global__ void racy_handed_on(const float* in, float* data, int* flags, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];  // @data
        __threadfence();
        atomicExch(&flags[0], 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(&flags[0], 0) == 0) {}
        atomicExch(&flags[1], 1);
    } else {
        while (atomicAdd(&flags[1], 0) == 0) {}
        __threadfence();
        out[0] = data[0];  // race RAW data @data
    }
}

extern "C" __global__ void clean_handed_on(const float* in, float* data, int* flags, float* out) {
    if (threadIdx.x > 0) return;
    if (blockIdx.x == 0) {
        data[0] = in[0];
        __threadfence();
        atomicExch(&flags[0], 1);
    } else if (blockIdx.x == 1) {
        while (atomicAdd(&flags[0], 0) == 0) {}
        __threadfence();
        atomicExch(&flags[1], 1);
    } else {
        while (atomicAdd(&flags[1], 0) == 0) {}
        __threadfence();
        out[0] = data[0];
    }
}

// A chain of blocks: each hands its sum on to the next.
// launch: grid 4, block 32: in float32[4], inout float32[5] all 0, inout int32[5] all 0, out float32[4]
extern "C" __global__ void racy_chain(const float* in, float* carried, int* ready, float* out) {
    int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    while (b > 0 && atomicAdd(&ready[b], 0) == 0) {}
    __threadfence();
    float sum = carried[b] + in[b];  // race RAW carried @hand
    carried[b + 1] = sum;            // @hand
    atomicExch(&ready[b + 1], 1);
    out[b] = sum;
}

extern "C" __global__ void clean_chain(const float* in, float* carried, int* ready, float* out) {
    int b = blockIdx.x;
    if (threadIdx.x > 0) return;
    while (b > 0 && atomicAdd(&ready[b], 0) == 0) {}
    __threadfence();
    float sum = carried[b] + in[b];
    carried[b + 1] = sum;
    __threadfence();
    atomicExch(&ready[b + 1], 1);
    out[b] = sum;
}
