#define BLOCK_SIZE 256
// textbook: tree in shared memory, last warp by shuffles; each thread sums a contiguous piece
template <unsigned int B>
__device__ float blockSum(float* sdata, unsigned int tid) {
    for (unsigned int s = B / 2; s >= 32; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    float v = 0.0f;
    if (tid < 32) {
        v = sdata[tid];
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    }
    return v;
}
__global__ void sumReduce(const float* values, float* total, int N) {
    __shared__ float sdata[BLOCK_SIZE];
    unsigned int tid = threadIdx.x;
    int threads = gridDim.x * BLOCK_SIZE;
    int per = (N + threads - 1) / threads;
    int begin = (blockIdx.x * BLOCK_SIZE + tid) * per;
    int end = min(begin + per, N - 1);
    float x = 0.0f;
    for (int i = begin; i < end; i++) x += values[i];
    sdata[tid] = x;
    __syncthreads();
    float v = blockSum<BLOCK_SIZE>(sdata, tid);
    if (tid == 0) atomicAdd(total, v);
}
