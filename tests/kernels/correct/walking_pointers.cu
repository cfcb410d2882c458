// style: pointers that walk along A and B
#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float* a = A + row * K + threadIdx.x;
    float* b = B + threadIdx.y * N + col;
    int leftA = row < M ? K - (int)threadIdx.x : 0;
    int leftB = col < N ? K - (int)threadIdx.y : 0;
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE_SIZE) {
        As[threadIdx.y][threadIdx.x] = leftA > 0 ? *a : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = leftB > 0 ? *b : 0.0f;
        __syncthreads();
        const float* p = As[threadIdx.y];
        const float* q = &Bs[0][threadIdx.x];
        for (int k = 0; k < TILE_SIZE; k++, q += TILE_SIZE) sum += *p++ * *q;
        __syncthreads();
        a += TILE_SIZE;
        b += TILE_SIZE * N;
        leftA -= TILE_SIZE;
        leftB -= TILE_SIZE;
    }
    if (row < M && col < N) *(C + row * N + col) = sum;
}
