// A sparse matrix in compressed rows times a vector: eight threads a row, shuffles within each eight.
__global__ void kernel(const int* starts, const int* columns, const float* values, const float* x, float* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
    float sum = 0;
    if (row < rows) {
        for (int i = starts[row] + lane; i < starts[row + 1]; i += 8) sum += values[i] * x[columns[i]];
    }
    for (int by = 4; by; by >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, by, 8);
    if (row < rows && lane == 0) y[row] = sum;
}
