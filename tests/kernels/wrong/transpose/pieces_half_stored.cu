#define TILE_DIM 32
#define BLOCK_ROWS 8
template <typename T, int D, int R>
__device__ void turn(const T* __restrict__ in, T* __restrict__ out, int rows, int cols) {
    __shared__ T buf[D][D + 1];
    const int lin = threadIdx.y * D + threadIdx.x;
    const int c0 = blockIdx.x * D, r0 = blockIdx.y * D;
    for (int e = lin; e < D * D; e += D * R) {
        const int r = e / D, c = e % D;
        if (r0 + r < rows && c0 + c < cols) buf[r][c] = in[(r0 + r) * cols + c0 + c];
    }
    __syncthreads();
    for (int e = lin; e < D * D / 2; e += D * R) {
        const int r = e / D, c = e % D;
        if (c0 + r < cols && r0 + c < rows) out[(c0 + r) * rows + r0 + c] = buf[c][r];
    }
}
__global__ void transpose(const float* input, float* output, int M, int N) {
    turn<float, TILE_DIM, BLOCK_ROWS>(input, output, M, N);
}
