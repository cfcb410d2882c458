#define BLOCK_SIZE 256

__global__ void inclusiveScan(const float* input, float* output, int N) {
    __shared__ float sums[BLOCK_SIZE];

    const int row = blockIdx.x * N;
    float carry = 0.0f;
    for (int start = 0; start < N; start += BLOCK_SIZE) {
        const int column = start + threadIdx.x;
        sums[threadIdx.x] = column < N ? input[row + column] : 0.0f;
        __syncthreads();

        for (int stride = 1; stride < BLOCK_SIZE; stride *= 2) {
            if (threadIdx.x >= stride) {
                const float left = sums[threadIdx.x - stride];
                __syncthreads();
                sums[threadIdx.x] += left;
            }
            __syncthreads();
        }

        if (column < N) {
            output[row + column] = carry + sums[threadIdx.x];
        }
        carry += sums[BLOCK_SIZE - 1];
        __syncthreads();
    }
}
