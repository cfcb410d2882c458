// Each thread moves one element.
__global__ void kernel(const double* in, double* out, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < columns) {
        out[column * rows + row] = in[row * columns + column];
    }
}
