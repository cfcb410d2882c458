// Small kernels for the harness on a real device: one thing each.
#include <cstdio>

__device__ int launches;

extern "C" __global__ void copies(const float *A, float *C, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i];
}

extern "C" __global__ void takes_wide(const float *A, float *C, long long N) { C[0] = (float)N + A[0]; }

extern "C" __global__ void says_where(const float *A, float *C, int N) {
    C[0] = (float)((size_t)A % 256);
    C[1] = (float)((size_t)C % 256);
}

extern "C" __global__ void counts(const float *A, float *C, int N) { C[0] = (float)++launches; }

extern "C" __global__ void prints(const float *A, float *C, int N) { printf("N is %d\n", N); }

extern "C" __global__ void reads_beyond(const float *A, float *C, int N) { C[0] = A[N + 5]; }

extern "C" __global__ void writes_beyond(const float *A, float *C, int N) { C[N + 2] = C[N + 6] = 1.0f; }

extern "C" __global__ void writes_before(const float *A, float *C, int N) { C[-2] = C[-5] = 1.0f; }

extern "C" __global__ void changes_its_input(float *A, float *C, int N) { A[3] = -1.0f; }

extern "C" __global__ void reads_far_away(const float *A, float *C, int N) { C[0] = A[-(1LL << 40)]; }

extern "C" __global__ void writes_far_away(const float *A, float *C, int N) {
    *(volatile float *)((size_t)N * sizeof(float)) = 1.0f;
}

extern "C" __global__ void is_misaligned(const float *A, float *C, int N) {
    C[0] = *(const volatile double *)((const char *)A + 1);
}

__device__ float held_a[400], held_c[400];

extern "C" __global__ void copies_between_variables(int N) {
    for (int i = threadIdx.x; i < N; i += blockDim.x) held_c[i] = held_a[i];
}

struct Vectors { int count; float *a, *c; };

extern "C" __global__ void copies_in_a_struct(Vectors v, int N) {
    for (int i = threadIdx.x; i < v.count && i < N; i += blockDim.x) v.c[i] = v.a[i];
}

extern "C" __global__ void traps(const float *A, float *C, int N) { asm("trap;"); }

extern "C" __global__ void hangs(const float *A, float *C, int N) {
    while (*(volatile const float *)A != -12345.0f) continue;
}

extern "C" __global__ void hangs_at_a_barrier_of_its_own(const float *A, float *C, int N) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    while (flag == 0) continue;
}
