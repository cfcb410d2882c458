// One sum in one launch: every block leaves its part behind a fence, and the last one to come adds them up.
#define THREADS 128
__device__ unsigned finished = 0;

__device__ float block_sum(float value, float* buffer) {
    buffer[threadIdx.x] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) buffer[threadIdx.x] += buffer[threadIdx.x + stride];
        __syncthreads();
    }
    return buffer[0];
}

__global__ void kernel(const float* in, volatile float* parts, float* total, int n) {
    __shared__ float buffer[THREADS];
    __shared__ bool last;
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = block_sum(i < n ? in[i] : 0.0f, buffer);
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        __threadfence();
        sum = 0.0f;
        for (int part = threadIdx.x; part < gridDim.x; part += THREADS) sum += parts[part];
        __syncthreads();
        sum = block_sum(sum, buffer);
        if (threadIdx.x == 0) *total = sum;
    }
}
