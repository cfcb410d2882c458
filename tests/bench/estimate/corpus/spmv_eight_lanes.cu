// A row to eight lanes.

extern "C" __global__ void spmv_eight_lanes(const int* start, const int* column, const float* value,
                                            const float* x, float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0;
    if (row < rows) {
        for (int i = start[row] + lane; i < start[row + 1]; i += 8) sum += value[i] * x[column[i]];
    }
    for (int step = 4; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step, 8);
    if (row < rows && lane == 0) y[row] = sum;
}
