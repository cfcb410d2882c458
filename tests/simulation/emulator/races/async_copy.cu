// Asynchronous copies into shared memory: nobody may look before they have landed.
#include <cuda_pipeline.h>

#define SHARED(p) "r"((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::SHARED(to), "l"(from) : "memory")
#define COPY16(to, from) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::SHARED(to), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#define WAIT_ALL() asm volatile("cp.async.wait_all;" ::: "memory")

// launch: grid 2, block 64: in float32[128], out float32[128]

// Even the thread that began the copy must wait for it.
extern "C" __global__ void racy_own_element(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);  // @copy
    out[i] = row[t];  // race RAW row @copy; uninitialised
}

extern "C" __global__ void clean_own_element(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);
    WAIT_ALL();
    out[i] = row[t];
}

// Waiting is a thread's own affair: a barrier tells the others.
extern "C" __global__ void racy_others_element(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);  // @copy
    WAIT_ALL();
    out[i] = row[63 - t];  // race RAW row @copy
}

extern "C" __global__ void clean_others_element(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);
    WAIT_ALL();
    __syncthreads();
    out[i] = row[63 - t];
}

// A barrier does not wait for copies.
extern "C" __global__ void racy_barrier_alone(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);  // @copy
    COMMIT();
    __syncthreads();
    out[i] = row[63 - t];  // race RAW row @copy; uninitialised
}

extern "C" __global__ void clean_barrier_alone(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);
    COMMIT();
    WAIT(0);
    __syncthreads();
    out[i] = row[63 - t];
}

// First wait, then tell: the other way round the barrier comes too early.
extern "C" __global__ void racy_wait_after_barrier(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);  // @copy
    COMMIT();
    __syncthreads();
    WAIT(0);
    out[i] = row[63 - t];  // race RAW row @copy
}

extern "C" __global__ void clean_wait_after_barrier(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&row[t], in + i);
    COMMIT();
    WAIT(0);
    __syncthreads();
    out[i] = row[63 - t];
}

// Only those who began copies have something to wait for.
extern "C" __global__ void racy_wrong_threads_wait(const float* in, float* out) {
    __shared__ __align__(16) float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 16) COPY16(&row[4 * t], in + blockIdx.x * 64 + 4 * t);  // @copy
    if (t >= 16) WAIT_ALL();
    __syncthreads();
    out[i] = row[63 - t];  // race RAW row @copy; uninitialised
}

extern "C" __global__ void clean_wrong_threads_wait(const float* in, float* out) {
    __shared__ __align__(16) float row[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    if (t < 16) COPY16(&row[4 * t], in + blockIdx.x * 64 + 4 * t);
    if (t < 16) WAIT_ALL();
    __syncthreads();
    out[i] = row[63 - t];
}

// Two groups under way: waiting for all but one leaves the second.
extern "C" __global__ void racy_two_groups(const float* in, float* out) {
    __shared__ float a[64], b[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&a[t], in + i);
    COMMIT();
    COPY(&b[t], in + 127 - i);  // @second
    COMMIT();
    WAIT(1);
    __syncthreads();
    float left = a[63 - t];
    out[i] = left + b[63 - t];  // race RAW b @second; uninitialised
}

extern "C" __global__ void clean_two_groups(const float* in, float* out) {
    __shared__ float a[64], b[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    COPY(&a[t], in + i);
    COMMIT();
    COPY(&b[t], in + 127 - i);
    COMMIT();
    WAIT(0);
    __syncthreads();
    float left = a[63 - t];
    out[i] = left + b[63 - t];
}

// A pipeline of tiles: how many groups may be left when a tile is used.
// launch: grid 1, block 64: in float32[256], out float32[64]
extern "C" __global__ void racy_pipeline_depth(const float* in, float* out) {
    __shared__ float tile[4][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    COPY(&tile[0][t], in + t);  // @first
    COMMIT();
    for (int k = 0; k < 4; ++k) {
        if (k < 3) COPY(&tile[k + 1][t], in + 64 * (k + 1) + t);  // @next
        COMMIT();
        WAIT(2);
        __syncthreads();
        sum += tile[k][63 - t];  // race RAW tile @first; race RAW tile @next; uninitialised
    }
    out[t] = sum;
}

extern "C" __global__ void clean_pipeline_depth(const float* in, float* out) {
    __shared__ float tile[4][64];
    int t = threadIdx.x;
    float sum = 0.0f;
    COPY(&tile[0][t], in + t);
    COMMIT();
    for (int k = 0; k < 4; ++k) {
        if (k < 3) COPY(&tile[k + 1][t], in + 64 * (k + 1) + t);
        COMMIT();
        WAIT(1);
        __syncthreads();
        sum += tile[k][63 - t];
    }
    out[t] = sum;
}

// A buffer that others still read must not be copied into.
extern "C" __global__ void racy_copy_too_early(const float* in, float* out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        COPY(&tile[t], in + 64 * k + t);  // race WAR tile @use
        WAIT_ALL();
        __syncthreads();
        sum += tile[63 - t];  // @use
    }
    out[t] = sum;
}

extern "C" __global__ void clean_copy_too_early(const float* in, float* out) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        COPY(&tile[t], in + 64 * k + t);
        WAIT_ALL();
        __syncthreads();
        sum += tile[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

// The toolkit's own names for the same.
extern "C" __global__ void racy_pipeline_functions(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&row[t], &in[t], 4);  // @copy
    __pipeline_commit();
    __syncthreads();
    out[t] = row[63 - t];  // race RAW row @copy; uninitialised
}

extern "C" __global__ void clean_pipeline_functions(const float* in, float* out) {
    __shared__ float row[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&row[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = row[63 - t];
}

// Tiles of both factors arrive by copy.
// launch: grid 1, block 8 8: in float32[8,16], in float32[16,8], out float32[8,8]
extern "C" __global__ void racy_matmul(const float* A, const float* B, float* C) {
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < 16; start += 8) {
        COPY(&a[y][x], A + y * 16 + start + x);    // @a
        COPY(&b[y][x], B + (start + y) * 8 + x);  // @b
        WAIT_ALL();
        __syncwarp();
        for (int k = 0; k < 8; ++k) {
            float left = a[y][k];
            float right = b[k][x];  // race RAW b @b
            sum += left * right;
        }
        __syncthreads();
    }
    C[y * 8 + x] = sum;
}

extern "C" __global__ void clean_matmul(const float* A, const float* B, float* C) {
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < 16; start += 8) {
        COPY(&a[y][x], A + y * 16 + start + x);
        COPY(&b[y][x], B + (start + y) * 8 + x);
        WAIT_ALL();
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float left = a[y][k];
            float right = b[k][x];
            sum += left * right;
        }
        __syncthreads();
    }
    C[y * 8 + x] = sum;
}
