// Kernels with something wrong with them: the native core leaves them to the interpreter.

extern "C" __global__ void race(const float* A, float* B, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    B[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ void race_in_a_warp(const float* A, float* B, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    B[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 1];
}

extern "C" __global__ void race_of_blocks(const float* A, float* B, int n) {
    B[threadIdx.x] = A[blockIdx.x];
}

extern "C" __global__ void race_after_reads(const float* A, float* B, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    float x = s[63 - threadIdx.x];
    s[threadIdx.x] = x + 1.0f;
    __syncthreads();
    B[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void race_of_equal_values(const float* A, float* B, int n) {
    __shared__ float s[1];
    s[0] = A[0];
    __syncthreads();
    B[blockIdx.x * 64 + threadIdx.x] = s[0];
}

extern "C" __global__ void beyond_an_array(const float* A, float* B, int n) {
    if (threadIdx.x == 40) B[100000] = A[0];
}

extern "C" __global__ void beyond_shared(const float* A, float* B, int n) {
    __shared__ float s[8];
    s[threadIdx.x] = A[0];
    B[blockIdx.x * 64 + threadIdx.x] = s[0];
}

extern "C" __global__ void not_aligned(const float* A, float* B, int n) {
    B[blockIdx.x * 64 + threadIdx.x] = *(const float*)((const char*)A + 2);
}

extern "C" __global__ void unset_shared(const float* A, float* B, int n) {
    __shared__ float s[64];
    if (n == 0) s[threadIdx.x] = A[0];
    B[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void unset_own(const float* A, float* B, int n) {
    float own[4];
    own[n % 3] = A[0];
    B[blockIdx.x * 64 + threadIdx.x] = own[threadIdx.x % 4];
}

extern "C" __global__ void returned(const float* A, float* B, int n) {
    if (threadIdx.x > 40) return;
    __syncthreads();
    B[blockIdx.x * 64 + threadIdx.x] = A[0];
}

extern "C" __global__ void two_barriers(const float* A, float* B, int n) {
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        B[blockIdx.x * 64 + threadIdx.x] = A[1];
        __syncthreads();
    }
}

extern "C" __global__ void part_of_a_warp(const float* A, float* B, int n) {
    float x = A[1];
    if (threadIdx.x % 32 < 16) x = __shfl_down_sync(0xffffffff, x, 1);
    B[blockIdx.x * 64 + threadIdx.x] = x;
}

extern "C" __global__ void sometimes_set(const float* A, float* B, int n) {
    float x;
    if (threadIdx.x < 48) x = A[0];
    B[blockIdx.x * 64 + threadIdx.x] = x;
}

extern "C" __global__ void goes_on(const int* A, int* B, int n) {
    int x = A[0];
    for (int i = 0; i < n; ++i) x = x * 1664525 + (x >> 3);
    B[0] = x;
}

extern "C" __global__ void race_of_update(const float* A, float* B, int n) {
    if (threadIdx.x == 0) B[0] = 1.0f;
    atomicAdd((int*)B, 2);
}

extern "C" __global__ void race_of_update_and_read(const float* A, float* B, int n) {
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, 1);
    B[blockIdx.x * 64 + threadIdx.x] = s;
}

extern "C" __global__ void waits_for_a_warp(const float* A, float* B, int n) {
    if (threadIdx.x == 0)
        while (atomicAdd((int*)B, 0) == 0) {}
    atomicExch((int*)B, 1);
}

extern "C" __global__ void waits_for_a_lane(const float* A, float* B, int n) {
    while (atomicCAS((int*)B, 0, 1) != 0) {}
    __threadfence();
    atomicExch((int*)B, 0);
}
