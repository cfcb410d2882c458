// 16 bytes at a time into shared memory without registers, some of them filled with zeros, then turned around.
#include <cuda_pipeline.h>

__global__ void kernel(const int4* in, int4* out, int n) {
    __shared__ __align__(16) int4 stage[3][64];
    int t = threadIdx.x;
    for (int part = 0; part < 3; ++part) {
        int i = (blockIdx.x * 3 + part) * 64 + t;
        __pipeline_memcpy_async(&stage[part][t], &in[min(i, n - 1)], 16, i < n ? 0 : 16);
        __pipeline_commit();
    }
    for (int part = 0; part < 3; ++part) {
        if (part == 0) __pipeline_wait_prior(2);
        else if (part == 1) __pipeline_wait_prior(1);
        else __pipeline_wait_prior(0);
        __syncthreads();
        int i = (blockIdx.x * 3 + part) * 64 + t;
        int4 four = stage[part][63 - t];
        if (i < n) out[i] = make_int4(four.w, four.z, four.y, four.x);
    }
}
