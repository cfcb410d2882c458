/*
 * Author: group 7
 * Since B is padded with zeros, the extra products are zero anyway.
 */
#define TILE_SIZE 16

__global__ void tiledMatMul(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ float sA[TILE_SIZE][TILE_SIZE];
    __shared__ float sB[TILE_SIZE][TILE_SIZE];
    int r = blockIdx.y * TILE_SIZE + threadIdx.y;
    int c = blockIdx.x * TILE_SIZE + threadIdx.x;
    float s = 0;

    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        int ka = k0 + threadIdx.x;
        int kb = k0 + threadIdx.y;
        sA[threadIdx.y][threadIdx.x] = A[r * K + ka];
        sB[threadIdx.y][threadIdx.x] = (kb < K && c < N) ? B[kb * N + c] : 0;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k)
            s += sA[threadIdx.y][k] * sB[k][threadIdx.x];
        __syncthreads();
    }
    if (r < M && c < N)
        C[r * N + c] = s;
}
