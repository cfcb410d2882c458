#define TILE_SIZE 16

__global__ void tiledMatMul(float* A, float* B, float* C, int M, int K, int N) {
    __shared__ float As[TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[TILE_SIZE][TILE_SIZE];
    int zeile = blockIdx.y * TILE_SIZE + threadIdx.y;
    int spalte = blockIdx.x * TILE_SIZE + threadIdx.x;

    if (zeile < M && spalte < N) {
        float summe = 0.0f;
        for (int t = 0; t < (K + TILE_SIZE - 1) / TILE_SIZE; t++) {
            int ka = t * TILE_SIZE + threadIdx.x;
            int kb = t * TILE_SIZE + threadIdx.y;
            As[threadIdx.y][threadIdx.x] = ka < K ? A[zeile * K + ka] : 0.0f;
            Bs[threadIdx.y][threadIdx.x] = kb < K ? B[kb * N + spalte] : 0.0f;
            __syncthreads();
            for (int k = 0; k < TILE_SIZE; k++)
                summe += As[threadIdx.y][k] * Bs[k][threadIdx.x];
            __syncthreads();
        }
        C[zeile * N + spalte] = summe;
    }
}
