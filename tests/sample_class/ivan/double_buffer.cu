// Double buffering: while one pair of tiles is read the other pair is written.
// That needs only one barrier per iteration.
#define TS 16

__global__ void tiledMatMul(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                            int M, int K, int N)
{
    __shared__ float a[2][TS][TS];
    __shared__ float b[2][TS][TS];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
    const int tiles = (K + TS - 1) / TS;
    float sum = 0.f;

    for (int t = 0; t < tiles; ++t) {
        const int buf = t % 2;
        a[buf][ty][tx] = (row < M && t * TS + tx < K) ? A[row * K + t * TS + tx] : 0.f;
        b[buf][ty][tx] = (t * TS + ty < K && col < N) ? B[(t * TS + ty) * N + col] : 0.f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TS; ++k)
            sum += a[buf][ty][k] * b[buf][k][tx];
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
