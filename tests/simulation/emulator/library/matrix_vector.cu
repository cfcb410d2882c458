// y = A x, one warp per row, added up with a butterfly.
__global__ void kernel(const float* A, const float* x, float* y, int rows, int columns) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int column = threadIdx.x; column < columns; column += 32) {
        sum += A[row * columns + column] * x[column];
    }
    for (int mask = 16; mask; mask >>= 1) {
        sum += __shfl_xor_sync(0xffffffff, sum, mask);
    }
    if (threadIdx.x == 0) {
        y[row] = sum;
    }
}
