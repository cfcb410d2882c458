// Generic tiled product; the tile is a template parameter so that I can benchmark several.
#include <iostream>

template <int TILE_EDGE>
__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float left[TILE_EDGE][TILE_EDGE];
    __shared__ float right[TILE_EDGE][TILE_EDGE];

    const int row = blockIdx.y * TILE_EDGE + threadIdx.y;
    const int col = blockIdx.x * TILE_EDGE + threadIdx.x;

    float sum = 0.0f;
    for (int step = 0; step < K; step += TILE_EDGE) {
        left[threadIdx.y][threadIdx.x] =
            row < M && step + threadIdx.x < K ? A[row * K + step + threadIdx.x] : 0.0f;
        right[threadIdx.y][threadIdx.x] =
            step + threadIdx.y < K && col < N ? B[(step + threadIdx.y) * N + col] : 0.0f;
        __syncthreads();

        for (int i = 0; i < TILE_EDGE; ++i) {
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        }
        __syncthreads();
    }

    if (row < M && col < N) {
        C[row * N + col] = sum;
    }
}

int main() {
    constexpr int tile = 16;
    const int m = 1024, k = 1024, n = 1024;
    float *a{}, *b{}, *c{};
    cudaMalloc(&a, m * k * sizeof *a);
    cudaMalloc(&b, k * n * sizeof *b);
    cudaMalloc(&c, m * n * sizeof *c);
    const dim3 block{tile, tile};
    const dim3 grid{(n + tile - 1) / tile, (m + tile - 1) / tile};
    tiledMatMul<tile><<<grid, block>>>(a, b, c, m, k, n);
    std::cout << cudaGetErrorString(cudaDeviceSynchronize()) << '\n';
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}
