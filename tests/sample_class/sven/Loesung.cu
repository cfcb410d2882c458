// Sven's solution, written on Windows
#include <cuda_runtime.h>
#define BLOCK_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N)
{
	__shared__ float as[BLOCK_SIZE][BLOCK_SIZE];
	__shared__ float bs[BLOCK_SIZE][BLOCK_SIZE];
	int r = blockIdx.y * BLOCK_SIZE + threadIdx.y;
	int c = blockIdx.x * BLOCK_SIZE + threadIdx.x;
	float s = 0.0f;

	for (int m = 0; m < K; m += BLOCK_SIZE)
	{
		as[threadIdx.y][threadIdx.x] = (r < M && m + (int)threadIdx.x < K) ? A[r * K + m + threadIdx.x] : 0.0f;
		bs[threadIdx.y][threadIdx.x] = (m + (int)threadIdx.y < K && c < N) ? B[(m + threadIdx.y) * N + c] : 0.0f;
		__syncthreads();
		for (int k = 0; k < BLOCK_SIZE; k++)
			s += as[threadIdx.y][k] * bs[k][threadIdx.x];
		__syncthreads();
	}
	if (r < M && c < N)
		C[r * N + c] = s;
}
