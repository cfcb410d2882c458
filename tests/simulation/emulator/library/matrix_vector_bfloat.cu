// bfloat16 weights two at a time, float sums, and a result rounded to bfloat16 again.
#include <cuda_bf16.h>

__global__ void kernel(const __nv_bfloat162* A, const __nv_bfloat162* x, __nv_bfloat16* y, float* exact, int rows, int pairs) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = threadIdx.x; row < rows && i < pairs; i += 32) {
        float2 a = __bfloat1622float2(A[row * pairs + i]), b = __bfloat1622float2(x[i]);
        sum = fmaf(a.x, b.x, sum);
        sum = fmaf(a.y, b.y, sum);
    }
#pragma unroll
    for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    if (threadIdx.x == 0 && row < rows) {
        __nv_bfloat16 rough = __float2bfloat16_rn(sum);
        y[row] = __hgt(rough, __float2bfloat16(0.0f)) ? rough : __hmul(rough, __float2bfloat16(0.125f));
        exact[row] = sum;
    }
}
