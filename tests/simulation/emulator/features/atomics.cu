// Atomic operations of every type that CUDA C++ has, with scopes, and on vectors.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void integers(unsigned short *a, unsigned long long *b, long long *c, int *e) {
    int i = threadIdx.x;
    atomicCAS(a + i, (unsigned short)3, (unsigned short)i);
    atomicMin(b, (unsigned long long)i + 5);
    atomicXor(b + 1, 1ull << i);
    atomicCAS_block(b + 2, 0ull, 9ull);
    atomicMax(c, (long long)i - 50);
    atomicAdd_block(e, 1);
    atomicAdd_system(e + 1, i);
    atomicInc((unsigned *)e + 2, 10);
    atomicDec((unsigned *)e + 3, 10);
    atomicSub(e + 4, 2);
    atomicOr_system(e + 5, 1 << (i & 15));
    atomicAnd(e + 6, ~(1 << (i & 7)));
    atomicExch_system(e + 7, 5);
}

extern "C" __global__ void floats(float *a, double *b, __half *c, __half2 *d, __nv_bfloat16 *e, __nv_bfloat162 *f) {
    atomicAdd(a, 1.5f);
    atomicAdd(b, 0.25);
    atomicAdd(c, __float2half(0.5f));
    atomicAdd(d, __floats2half2_rn(1, 2));
    atomicAdd(e, __float2bfloat16(2.0f));
    atomicAdd(f, __floats2bfloat162_rn(1, 4));
    atomicExch(a + 1, 2.5f);
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void vectors(float2 *a, float4 *b, float *found) {
    float2 before = atomicAdd(a, make_float2(1, threadIdx.x));
    found[threadIdx.x] = before.x;
    atomicAdd(b, make_float4(1, 2, 3, 4));
}
#endif
