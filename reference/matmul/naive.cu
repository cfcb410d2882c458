// Staff only. The baseline that tiling is compared with: one thread per element of C and no shared memory,
// so that every operand comes from global memory, 2 * K loads per element.
//
// It carries the name and the parameter list of the assignment's kernel, so that it is built and launched
// through the same interface as a submission; TILE_SIZE is only the shape of a block here.

#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) return;

    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}
