// What kernels say and check while they are looked for mistakes in.
#include <assert.h>
#include <stdio.h>

__global__ void kernel(const int* in, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(blockDim.x == 32);
    if (i < n) {
        assert(in[i] >= 0 && "no negative numbers");
        out[i] = in[i] * in[i];
        if (i % 40 == 3) printf("thread %d of block %d: %d squared is %d (%5.2f %s %lld)\n", threadIdx.x, blockIdx.x, in[i], out[i],
                                in[i] / 3.0, "text", (long long)in[i] << 20);
    } else if (i == n) {
        printf("the rest has nothing to do\n");
    }
}
