// One sum per block: a tree in shared memory.
#define THREADS 128
__global__ void kernel(const float* in, float* out, int n) {
    __shared__ float partial[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    partial[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            partial[threadIdx.x] += partial[threadIdx.x + stride];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        out[blockIdx.x] = partial[0];
    }
}
