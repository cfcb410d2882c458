// style: helpers and constants in namespaces, the kernel outside
namespace lab {
namespace detail {
constexpr float nothing = 0.0f;
}
using detail::nothing;

struct View {
    const float* data;
    int rows, cols;
    __device__ float operator()(int r, int c) const {
        return r < rows && c < cols ? data[r * cols + c] : nothing;
    }
};
}  // namespace lab

namespace {
constexpr int side = 16;
}

__global__ void tiledMatMul(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float As[side][side];
    __shared__ float Bs[side][side];
    const lab::View a{A, M, K}, b{B, K, N};
    const int row = blockIdx.y * side + threadIdx.y;
    const int col = blockIdx.x * side + threadIdx.x;
    float sum = lab::nothing;
    for (int k0 = 0; k0 < K; k0 += side) {
        As[threadIdx.y][threadIdx.x] = a(row, k0 + threadIdx.x);
        Bs[threadIdx.y][threadIdx.x] = b(k0 + threadIdx.y, col);
        __syncthreads();
        for (int k = 0; k < side; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
