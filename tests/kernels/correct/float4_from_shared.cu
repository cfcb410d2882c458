// style: float4 reads from shared memory (from global they would be misaligned for most K)
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ __align__(16) float As[TILE_SIZE][TILE_SIZE];
    __shared__ __align__(16) float Bt[TILE_SIZE][TILE_SIZE];  // transposed
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
        int kx = t * TILE_SIZE + threadIdx.x;
        int ky = t * TILE_SIZE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && kx < K) ? A[row * K + kx] : 0.0f;
        Bt[threadIdx.x][threadIdx.y] = (ky < K && col < N) ? B[ky * N + col] : 0.0f;
        __syncthreads();
        const float4* a = reinterpret_cast<const float4*>(As[threadIdx.y]);
        const float4* b = reinterpret_cast<const float4*>(Bt[threadIdx.x]);
        for (int q = 0; q < TILE_SIZE / 4; q++) {
            float4 x = a[q], y = b[q];
            sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
