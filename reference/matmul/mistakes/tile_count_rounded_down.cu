#include <cuda_runtime.h>
#include <iostream>

#define TILE_SIZE 16
#define CHECK(call) do { cudaError_t e = (call); \
    if (e != cudaSuccess) std::cerr << cudaGetErrorString(e) << std::endl; } while (0)

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float tA[TILE_SIZE][TILE_SIZE], tB[TILE_SIZE][TILE_SIZE];
    int ty = threadIdx.y, tx = threadIdx.x;
    int row = ty + blockIdx.y * TILE_SIZE, col = tx + blockIdx.x * TILE_SIZE;
    float v = 0;
    int tiles = K / TILE_SIZE;
    for (int t = 0; t < tiles; t++) {
        tA[ty][tx] = row < M ? A[row * K + t * TILE_SIZE + tx] : 0;
        tB[ty][tx] = col < N ? B[(t * TILE_SIZE + ty) * N + col] : 0;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k++) v += tA[ty][k] * tB[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = v;
}

int main() {
    const int n = 256;
    float *a, *b, *c;
    CHECK(cudaMallocManaged(&a, n * n * sizeof(float)));
    CHECK(cudaMallocManaged(&b, n * n * sizeof(float)));
    CHECK(cudaMallocManaged(&c, n * n * sizeof(float)));
    for (int i = 0; i < n * n; i++) { a[i] = i % 7; b[i] = i % 5; }
    tiledMatMul<<<dim3(n / TILE_SIZE, n / TILE_SIZE), dim3(TILE_SIZE, TILE_SIZE)>>>(a, b, c, n, n, n);
    CHECK(cudaDeviceSynchronize());
    std::cout << c[0] << std::endl;
    CHECK(cudaFree(a)); CHECK(cudaFree(b)); CHECK(cudaFree(c));
    return 0;
}
