// A sparse matrix with rows of equal length, stored column by column; -1 marks what is not there.
__global__ void kernel(const int* columns, const double* values, const double* x, double* y, int rows, int longest) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    double sum = 0.0;
    for (int k = 0; k < longest; ++k) {
        int column = columns[k * rows + row];
        if (column < 0) break;
        sum = fma(values[k * rows + row], x[column], sum);
    }
    y[row] = sum;
}
