// Neighbours change places until a whole round changed nothing: a loop that ends by a vote of the block.
__global__ void kernel(float* data, int* rounds, int n) {
    extern __shared__ float row[];
    int t = threadIdx.x;
    for (int i = t; i < n; i += blockDim.x) row[i] = data[blockIdx.x * n + i];
    __syncthreads();
    int round = 0;
    bool changed = true;
    while (__syncthreads_or(changed)) {
        changed = false;
        for (int odd = 0; odd < 2; ++odd) {
            int i = 2 * t + odd;
            if (i + 1 < n && row[i] > row[i + 1]) {
                float kept = row[i];
                row[i] = row[i + 1];
                row[i + 1] = kept;
                changed = true;
            }
            __syncthreads();
        }
        ++round;
    }
    for (int i = t; i < n; i += blockDim.x) data[blockIdx.x * n + i] = row[i];
    if (t == 0) rounds[blockIdx.x] = round;
}
