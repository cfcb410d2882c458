#define BLOCK_SIZE 128
// each thread adds up to four neighbours, all others of the grid's steps after it
__global__ void vectorAdd(const float* A, const float* B, float* C, int N) {
    int step = blockDim.x * gridDim.x;
    int quads = N / 4;
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < quads; q += step) {
        C[4 * q + 0] = A[4 * q + 0] + B[4 * q + 0];
        C[4 * q + 1] = A[4 * q + 1] + B[4 * q + 1];
        C[4 * q + 2] = A[4 * q + 2] + B[4 * q + 2];
        C[4 * q + 3] = A[4 * q + 3] + B[4 * q + 3];
    }
}
