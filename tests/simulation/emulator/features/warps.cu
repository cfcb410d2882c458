// Shuffles, votes, matches and reductions of a warp, and barriers that count.
#include <cuda_fp16.h>

const unsigned ALL = 0xffffffff;

extern "C" __global__ void shuffles(const int *a, const double *b, long long *out) {
    int i = threadIdx.x, v = a[i];
    out[i] = __shfl_sync(ALL, v, i ^ 3);
    out[32 + i] = __shfl_sync(ALL, v, 2, 8);
    out[64 + i] = __shfl_up_sync(ALL, v, 3);
    out[96 + i] = __shfl_up_sync(ALL, v, 1, 4);
    out[128 + i] = __shfl_down_sync(ALL, v, 5, 16);
    out[160 + i] = __shfl_xor_sync(ALL, v, 9);
    out[192 + i] = (long long)__shfl_xor_sync(ALL, b[i], 1);
    out[224 + i] = __shfl_down_sync(ALL, (long long)v << 33, 1) >> 30;
}

extern "C" __global__ void votes(const int *a, unsigned *out) {
    int i = threadIdx.x, same;
    out[i] = __ballot_sync(ALL, a[i] & 1);
    out[32 + i] = __any_sync(ALL, a[i] == 5) * 4 + __all_sync(ALL, a[i] < 100) * 2 + __uni_sync(ALL, a[i] & 2);
    out[64 + i] = __match_any_sync(ALL, a[i] % 5);
    out[96 + i] = __match_all_sync(ALL, a[0], &same) + same;
    out[128 + i] = __match_any_sync(ALL, (unsigned long long)(a[i] % 3) << 40);
    if (i & 1) {
        out[160 + i] = __activemask();
        out[192 + i] = __ballot_sync(0xaaaaaaaa, a[i] & 4);
    } else {
        out[160 + i] = 1;
        out[192 + i] = __shfl_sync(0x55555555, a[i], 4);
    }
}

extern "C" __global__ void counting_barriers(const int *a, int *out) {
    int i = threadIdx.x;
    out[i] = __syncthreads_count(a[i] & 1) * 100 + __syncthreads_and(a[i] < 64) * 10 + __syncthreads_or(a[i] == 3);
}

extern "C" __global__ void half_shuffles(const __half2 *a, __half2 *out) {
    int i = threadIdx.x;
    out[i] = __hadd2(__shfl_xor_sync(ALL, a[i], 1), __shfl_down_sync(ALL, a[i], 2));
}

#if __CUDA_ARCH__ >= 800
extern "C" __global__ void reductions(const int *a, unsigned *out) {
    int i = threadIdx.x;
    out[i] = __reduce_add_sync(ALL, a[i]);
    out[32 + i] = __reduce_min_sync(ALL, a[i]);
    out[64 + i] = __reduce_max_sync(ALL, (unsigned)a[i]);
    out[96 + i] = __reduce_and_sync(ALL, a[i] | 256u);
    out[128 + i] = __reduce_or_sync(ALL, (unsigned)a[i]);
    out[160 + i] = __reduce_xor_sync(ALL, (unsigned)a[i]);
}
#endif

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void elected(int *out) {
    unsigned leader = 0, chosen = 0;
    if (threadIdx.x >= 4)
        asm volatile("{ .reg .pred p; elect.sync %0|p, 0xfffffff0; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(chosen));
    out[threadIdx.x] = leader * 10 + chosen;
}
#endif
