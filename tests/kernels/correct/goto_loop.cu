// style: loops made of goto
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    int t = 0, k, kx, ky;
    float sum = 0.0f;
next_tile:
    if (t >= K) goto done;
    kx = t + threadIdx.x;
    ky = t + threadIdx.y;
    As[threadIdx.y][threadIdx.x] = 0.0f;
    if (row >= M || kx >= K) goto skip_a;
    As[threadIdx.y][threadIdx.x] = A[row * K + kx];
skip_a:
    Bs[threadIdx.y][threadIdx.x] = 0.0f;
    if (ky >= K || col >= N) goto skip_b;
    Bs[threadIdx.y][threadIdx.x] = B[ky * N + col];
skip_b:
    __syncthreads();
    k = 0;
next_product:
    sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    if (++k < TILE_SIZE) goto next_product;
    __syncthreads();
    t += TILE_SIZE;
    goto next_tile;
done:
    if (row < M && col < N) C[row * N + col] = sum;
}
