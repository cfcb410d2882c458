// An inclusive prefix sum over many blocks in one launch: each block first adds up all that comes before it.
#define THREADS 128
__device__ int block_scan(int value, int* buffer) {
    int t = threadIdx.x;
    buffer[t] = value;
    __syncthreads();
    for (int by = 1; by < THREADS; by *= 2) {
        int before = t >= by ? buffer[t - by] : 0;
        __syncthreads();
        buffer[t] += before;
        __syncthreads();
    }
    return buffer[t];
}

__global__ void kernel(const int* in, int* out, int n) {
    __shared__ int buffer[THREADS];
    __shared__ int offset;
    int start = blockIdx.x * THREADS, before = 0;
    for (int i = threadIdx.x; i < start; i += THREADS) before += in[i];
    before = block_scan(before, buffer);
    if (threadIdx.x == THREADS - 1) offset = before;
    __syncthreads();
    int i = start + threadIdx.x;
    int sum = block_scan(i < n ? in[i] : 0, buffer);
    if (i < n) out[i] = offset + sum;
}
