// The inverse of a small matrix with partial pivoting; one block a matrix, all of it in shared memory.
#define N 12
__global__ void kernel(const double* in, double* inverses) {
    __shared__ double m[N][2 * N];
    __shared__ int pivot;
    int column = threadIdx.x, row = threadIdx.y;
    const double* own = in + blockIdx.x * N * N;
    m[row][column] = column < N ? own[row * N + column] : (column - N == row ? 1.0 : 0.0);
    __syncthreads();
    for (int k = 0; k < N; ++k) {
        if (row == 0 && column == 0) {
            pivot = k;
            for (int r = k + 1; r < N; ++r) {
                if (fabs(m[r][k]) > fabs(m[pivot][k])) pivot = r;
            }
        }
        __syncthreads();
        if (row == 0 && pivot != k) {
            double kept = m[k][column];
            m[k][column] = m[pivot][column];
            m[pivot][column] = kept;
        }
        __syncthreads();
        double factor = m[row][k] / m[k][k], upper = m[k][column];
        double divisor = m[k][k];
        __syncthreads();
        if (row == k) m[row][column] = upper / divisor;
        else m[row][column] -= factor * upper;
        __syncthreads();
    }
    if (column >= N) inverses[blockIdx.x * N * N + row * N + column - N] = m[row][column];
}
