// A device function that is a template does the work; indices through a helper.
template <typename T> __device__ inline T pick(const T* p, int r, int c, int rows, int cols) {
    return (r < rows && c < cols) ? p[r * cols + c] : T(0);
}
template <int TS> __device__ void multiply(const float* __restrict__ a, const float* __restrict__ b,
                                           float* __restrict__ c, int rows, int inner, int cols) {
    __shared__ float at[TS][TS], bt[TS][TS + 1];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const int r = blockIdx.y * TS + y, q = blockIdx.x * TS + x;
    float acc = 0.f;
    const int steps = inner / TS;
    for (int s = 0; s != steps; ++s) {
        at[y][x] = pick(a, r, int(s * TS + x), rows, inner);
        bt[y][x] = pick(b, int(s * TS + y), q, inner, cols);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TS; ++i) acc = fmaf(at[y][i], bt[i][x], acc);
        __syncthreads();
    }
    if (r < rows && q < cols) c[r * cols + q] = acc;
}
__global__ void tiledMatMul(const float* a, const float* b, float* c, int rows, int inner, int cols) {
    multiply<16>(a, b, c, rows, inner, cols);
}
