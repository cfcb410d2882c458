// Half precision in pairs: products and sums of neighbouring columns, added up in float every few steps.
#include <cuda_fp16.h>

__global__ void kernel(const __half* A, const __half2* B, float2* C, int M, int K, int pairs) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || pair >= pairs) return;
    float2 sum = make_float2(0, 0);
    for (int start = 0; start < K; start += 4) {
        __half2 part = __float2half2_rn(0.0f);
        for (int k = start; k < min(start + 4, K); ++k) {
            part = __hfma2(__half2half2(A[row * K + k]), B[k * pairs + pair], part);
        }
        float2 wide = __half22float2(part);
        sum.x += wide.x;
        sum.y += wide.y;
    }
    C[row * pairs + pair] = sum;
}
