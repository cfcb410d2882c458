// style: a main with a whole test: arguments, events, a check on the CPU
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>
#define TILE_SIZE 16

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE], Bs[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; ++t) {
        const int kx = t * TILE_SIZE + tx, ky = t * TILE_SIZE + ty;
        As[ty][tx] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bs[ty][tx] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

#define CUDA_CHECK(call)                                                                   \
    do {                                                                                   \
        cudaError_t status = (call);                                                       \
        if (status != cudaSuccess) {                                                       \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            std::exit(EXIT_FAILURE);                                                       \
        }                                                                                  \
    } while (0)

static void reference(const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c, int m, int k, int n) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int l = 0; l < k; ++l) sum += double(a[i * k + l]) * b[l * n + j];
            c[i * n + j] = float(sum);
        }
}

int main(int argc, char** argv) {
    int m = 100, k = 70, n = 33;
    for (int i = 1; i < argc; ++i)
        if (!std::strncmp(argv[i], "--m=", 4)) m = std::atoi(argv[i] + 4);
    std::mt19937 engine(42);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> a(m * k), b(k * n), c(m * n), expected(m * n);
    for (auto& x : a) x = uniform(engine);
    for (auto& x : b) x = uniform(engine);
    float *da, *db, *dc;
    CUDA_CHECK(cudaMalloc(&da, a.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&db, b.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&dc, c.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaEventRecord(start));
    dim3 block(TILE_SIZE, TILE_SIZE), grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    tiledMatMul<<<grid, block>>>(da, db, dc, m, k, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop));
    float milliseconds = 0;
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    CUDA_CHECK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    const auto begun = std::chrono::steady_clock::now();
    reference(a, b, expected, m, k, n);
    const std::chrono::duration<double, std::milli> cpu = std::chrono::steady_clock::now() - begun;
    for (size_t i = 0; i < c.size(); ++i)
        if (std::fabs(c[i] - expected[i]) > 1e-4f) return std::puts("FAIL"), 1;
    std::printf("PASS, %.3f ms on the GPU, %.3f ms on the CPU\n", milliseconds, cpu.count());
    cudaFree(da), cudaFree(db), cudaFree(dc);
    return cudaDeviceReset() == cudaSuccess ? 0 : 1;
}
