#include <cstdio>
#define TILE_SIZE 16

// The tiles come next. This is correct already.
__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    int row = threadIdx.y + blockDim.y * blockIdx.y;
    int col = threadIdx.x + blockDim.x * blockIdx.x;

    if (row < M && col < N) {
        float sum = 0.0f;
        for (int i = 0; i < K; i++) {
            sum += A[row * K + i] * B[i * N + col];
        }
        C[row * N + col] = sum;
    }
}
