#define TILE_SIZE 16
// the tile of A is read four numbers at a time, the tile of B is kept transposed
__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ __align__(16) float ta[TILE_SIZE][TILE_SIZE];
    __shared__ __align__(16) float tbT[TILE_SIZE][TILE_SIZE + 4];
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float4 sum = make_float4(0.f, 0.f, 0.f, 0.f);
    for (int p = 0; p < (K - 1) / TILE_SIZE + 1; p++) {
        int ka = p * TILE_SIZE + threadIdx.x;
        int kb = p * TILE_SIZE + threadIdx.y;
        ta[threadIdx.y][threadIdx.x] = 0.f;
        tbT[threadIdx.x][threadIdx.y] = 0.f;
        if (row < M && ka < K) ta[threadIdx.y][threadIdx.x] = A[row * K + ka];
        if (kb < K && col < N) tbT[threadIdx.x][threadIdx.y] = B[kb * N + col];
        __syncthreads();
        for (int k = 0; k < TILE_SIZE; k += 4) {
            float4 x = *reinterpret_cast<float4*>(&ta[threadIdx.y][k]);
            float4 y = *reinterpret_cast<float4*>(&tbT[threadIdx.x][k]);
            sum.x += x.x * y.x;
            sum.y += x.y * y.y;
            sum.z += x.z * y.z;
            sum.w += x.w * y.w;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum.x + sum.y + sum.z;
}
