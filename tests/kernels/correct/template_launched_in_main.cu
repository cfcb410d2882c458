// style: template over type and tile, instantiated by a launch in main
#include <cstdio>
#include <vector>

template <typename Real, unsigned Tile>
__global__ void tiledMatMul(const Real* A, const Real* B, Real* C, int M, int K, int N) {
    __shared__ Real a[Tile][Tile];
    __shared__ Real b[Tile][Tile];
    const unsigned row = blockIdx.y * Tile + threadIdx.y;
    const unsigned col = blockIdx.x * Tile + threadIdx.x;
    Real sum{};
    for (unsigned k0 = 0; k0 < K; k0 += Tile) {
        a[threadIdx.y][threadIdx.x] = row < M && k0 + threadIdx.x < K ? A[row * K + k0 + threadIdx.x] : Real(0);
        b[threadIdx.y][threadIdx.x] = k0 + threadIdx.y < K && col < N ? B[(k0 + threadIdx.y) * N + col] : Real(0);
        __syncthreads();
        for (unsigned k = 0; k < Tile; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

int main() {
    constexpr unsigned tile = 16;
    const int m = 100, k = 70, n = 50;
    std::vector<float> a(m * k, 1.0f), b(k * n, 2.0f), c(m * n);
    float *da = nullptr, *db = nullptr, *dc = nullptr;
    cudaMalloc(&da, a.size() * sizeof(float));
    cudaMalloc(&db, b.size() * sizeof(float));
    cudaMalloc(&dc, c.size() * sizeof(float));
    cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice);
    dim3 block(tile, tile), grid((n + tile - 1) / tile, (m + tile - 1) / tile);
    tiledMatMul<float, tile><<<grid, block>>>(da, db, dc, m, k, n);
    cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost);
    std::printf("%f\n", c.front());
    cudaFree(da); cudaFree(db); cudaFree(dc);
}
