#define BLOCK_SIZE 256

__global__ void inclusiveScan(const float* input, float* output, int N) {
    __shared__ float sums[2][BLOCK_SIZE];

    const int row = blockIdx.x * N;
    float carry = 0.0f;
    for (int start = 0; start < N; start += BLOCK_SIZE) {
        const int column = start + threadIdx.x;
        int now = 0;
        sums[now][threadIdx.x] = column < N ? input[row + column] : 0.0f;
        __syncthreads();

        for (int stride = 1; stride < BLOCK_SIZE; stride *= 2) {
            float sum = sums[now][threadIdx.x];
            if (threadIdx.x >= stride) {
                sum += sums[now][threadIdx.x - stride];
            }
            sums[1 - now][threadIdx.x] = sum;
            __syncthreads();
        }

        if (column < N) {
            output[row + column] = carry + sums[now][threadIdx.x];
        }
        carry += sums[now][BLOCK_SIZE - 1];
        __syncthreads();
    }
}
