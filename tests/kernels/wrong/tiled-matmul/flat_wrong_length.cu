// One-dimensional shared arrays and index macros.
#define TS 8
#define AT(r, c) ((r) * K + (c))
#define BT(r, c) ((r) * N + (c))
#define SH(r, c) ((r) * TS + (c))
extern "C" __global__ void tiledMatMul(const float *A, const float *B, float *C, int M, int K, int N) {
    __shared__ float sA[TS * TS];
    __shared__ float sB[TS * TS];
    int i = threadIdx.y + blockDim.y * blockIdx.y;
    int j = threadIdx.x + blockDim.x * blockIdx.x;
    float s = 0;
    int k0 = 0;
    while (k0 < K) {
        sA[SH(threadIdx.y, threadIdx.x)] = 0; sB[SH(threadIdx.y, threadIdx.x)] = 0;
        if (i < M && k0 + threadIdx.x < K) sA[SH(threadIdx.y, threadIdx.x)] = A[BT(i, k0 + threadIdx.x)];
        if (k0 + threadIdx.y < K && j < N) sB[SH(threadIdx.y, threadIdx.x)] = B[BT(k0 + threadIdx.y, j)];
        __syncthreads();
        for (int k = 0; k < TS; k++) s += sA[SH(threadIdx.y, k)] * sB[SH(k, threadIdx.x)];
        __syncthreads();
        k0 += TS;
    }
    if (i >= M || j >= N) return;
    C[BT(i, j)] = s;
}
