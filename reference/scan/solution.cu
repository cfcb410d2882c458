// Staff only. The model solution: a block goes through its row tile by tile. In a tile the distance over which
// numbers are added doubles from step to step; everybody reads before anybody writes.

#define BLOCK_SIZE 256

__global__ void inclusiveScan(const float* input, float* output, int N) {
    __shared__ float sums[BLOCK_SIZE];

    const int row = blockIdx.x * N;
    float carry = 0.0f;
    for (int start = 0; start < N; start += BLOCK_SIZE) {
        const int column = start + threadIdx.x;
        sums[threadIdx.x] = column < N ? input[row + column] : 0.0f;
        __syncthreads();  // the tile is complete

        for (int stride = 1; stride < BLOCK_SIZE; stride *= 2) {
            float sum = sums[threadIdx.x];
            if (threadIdx.x >= stride) {
                sum += sums[threadIdx.x - stride];
            }
            __syncthreads();  // everybody has read what the step before computed
            sums[threadIdx.x] = sum;
            __syncthreads();  // the step is complete
        }

        if (column < N) {
            output[row + column] = carry + sums[threadIdx.x];
        }
        carry += sums[BLOCK_SIZE - 1];
        __syncthreads();  // everybody has the carry before the next tile is loaded
    }
}
