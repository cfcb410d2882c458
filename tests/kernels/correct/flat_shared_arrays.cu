// style: shared tiles as one-dimensional arrays
#define TS 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float sA[TS * TS];
    __shared__ float sB[TS * TS];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
    float v = 0.0f;
    for (int t = 0; t < K; t += TS) {
        sA[ty * TS + tx] = (row < M && t + tx < K) ? A[row * K + t + tx] : 0.0f;
        sB[ty * TS + tx] = (t + ty < K && col < N) ? B[(t + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TS; ++k) v += sA[ty * TS + k] * sB[k * TS + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = v;
}
