// Products of four signed bytes at a time, and the sums of bytes in a word.
__global__ void kernel(const int* a, const int* b, const unsigned* c, int* dots, unsigned* sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int dot = 0;
    unsigned sum = 0;
    for (; i < n; i += gridDim.x * blockDim.x) {
        dot = __dp4a(a[i], b[i], dot);
        sum = __dp4a(c[i], 0x01010101u, sum);
        sum += __vsadu4(c[i], 0x10203040u);
    }
    dot = __reduce_add_sync(0xffffffff, dot);
    sum = __reduce_add_sync(0xffffffff, sum);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(dots, dot);
        atomicAdd(sums, sum);
    }
}
