// style: blocks walk over the tiles of C in grid strides, right for any grid
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    for (int by = blockIdx.y; by * TILE_SIZE < M; by += gridDim.y) {
        for (int bx = blockIdx.x; bx * TILE_SIZE < N; bx += gridDim.x) {
            int row = by * TILE_SIZE + threadIdx.y;
            int col = bx * TILE_SIZE + threadIdx.x;
            float sum = 0.0f;
            for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
                int kx = k0 + threadIdx.x, ky = k0 + threadIdx.y;
                As[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
                Bs[threadIdx.y][threadIdx.x] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
                __syncthreads();
                for (int k = 0; k < TILE_SIZE; k++) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
                __syncthreads();
            }
            if (row < M && col < N) C[row * N + col] = sum;
        }
    }
}
