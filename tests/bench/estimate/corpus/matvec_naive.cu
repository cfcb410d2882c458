// A matrix times a vector, a row to a thread.

extern "C" __global__ void matvec_naive(const float* A, const float* x, float* y, int M, int N) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += A[row * N + k] * x[k];
    y[row] = sum;
}
