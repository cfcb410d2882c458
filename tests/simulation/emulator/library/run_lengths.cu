// Run-length encoding in one block: heads of runs, their ranks by a scan, lengths from neighbouring heads.
#define N 256
__global__ void kernel(const unsigned char* in, unsigned char* symbols, unsigned short* lengths, int* runs, int n) {
    __shared__ unsigned short rank[N];
    __shared__ unsigned short heads[N + 1];
    int t = threadIdx.x;
    bool head = t < n && (t == 0 || in[t] != in[t - 1]);
    rank[t] = head;
    __syncthreads();
    for (int by = 1; by < N; by <<= 1) {
        unsigned short before = t >= by ? rank[t - by] : 0;
        __syncthreads();
        rank[t] += before;
        __syncthreads();
    }
    int total = rank[N - 1];
    if (head) {
        heads[rank[t] - 1] = t;
        symbols[rank[t] - 1] = in[t];
    }
    if (t == 0) {
        heads[total] = n;
        *runs = total;
    }
    __syncthreads();
    if (t < total) lengths[t] = heads[t + 1] - heads[t];
}
