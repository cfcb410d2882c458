// A scan over blocks in one launch: each waits for the sum of all before it, behind a flag and fences.
#define THREADS 64
__global__ void kernel(const int* in, int* out, volatile int* sums, volatile int* flags, int* tickets, int n) {
    __shared__ int buffer[THREADS];
    __shared__ int block, before;
    int t = threadIdx.x;
    if (t == 0) block = atomicAdd(tickets, 1);
    __syncthreads();
    int i = block * THREADS + t;
    buffer[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int by = 1; by < THREADS; by *= 2) {
        int left = t >= by ? buffer[t - by] : 0;
        __syncthreads();
        buffer[t] += left;
        __syncthreads();
    }
    if (t == 0) {
        int sum = 0;
        if (block > 0) {
            while (flags[block - 1] == 0) {
            }
            __threadfence();
            sum = sums[block - 1];
        }
        before = sum;
        sums[block] = sum + buffer[THREADS - 1];
        __threadfence();
        flags[block] = 1;
    }
    __syncthreads();
    if (i < n) out[i] = before + buffer[t];
}
