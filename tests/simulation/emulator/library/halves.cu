// Half precision, alone and in pairs, and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void kernel(const float* a, const float* b, float* sums, __half2* pairs, __nv_bfloat16* rough, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __half x = __float2half(a[i]), y = __float2half(b[i]);
    sums[i] = __half2float(__hadd(x, __hmul(x, y)));
    __half2 pair = __floats2half2_rn(a[i], b[i]);
    pairs[i] = __hfma2(pair, pair, __half2half2(y));
    rough[i] = __float2bfloat16(__hgt(x, y) ? a[i] : b[i]);
}
