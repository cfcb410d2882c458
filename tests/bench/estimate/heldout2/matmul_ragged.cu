// Matrix products of any extents: the ways in which students keep off what is not there.

#define MATRICES const float *A, const float *B, float *C, int M, int K, int N

__global__ void ragged_basic(MATRICES) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    if (col >= N) return;
    float total = 0.f;
    for (int x = 0; x < K; x++) total += A[row * K + x] * B[x * N + col];
    C[row * N + col] = total;
}

// Zeros are stored first and overwritten where there is something.
__global__ void ragged_zeros_first(MATRICES) {
    __shared__ float As[16][16];
    __shared__ float Bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y;
    int col = blockIdx.x * 16 + threadIdx.x;
    float total = 0.f;
    for (int tile = 0; tile < (K + 15) / 16; tile++) {
        As[threadIdx.y][threadIdx.x] = 0.f;
        Bs[threadIdx.y][threadIdx.x] = 0.f;
        if (row < M && tile * 16 + threadIdx.x < K)
            As[threadIdx.y][threadIdx.x] = A[row * K + tile * 16 + threadIdx.x];
        if (col < N && tile * 16 + threadIdx.y < K)
            Bs[threadIdx.y][threadIdx.x] = B[(tile * 16 + threadIdx.y) * N + col];
        __syncthreads();
        for (int x = 0; x < 16; x++) total += As[threadIdx.y][x] * Bs[x][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = total;
}

// Indices are clamped, so that loads need no branch; of the last tile only what exists is added.
__global__ void ragged_clamped(MATRICES) {
    __shared__ float As[32][32], Bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    int r = min(row, M - 1), c = min(col, N - 1);
    float total = 0.f;
    for (int start = 0; start < K; start += 32) {
        As[ty][tx] = A[r * K + min(start + tx, K - 1)];
        Bs[ty][tx] = B[min(start + ty, K - 1) * N + c];
        __syncthreads();
        int end = min(32, K - start);
        for (int x = 0; x < end; x++) total += As[ty][x] * Bs[x][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = total;
}

// Whole tiles without a check of k, then what is left over.
__global__ void ragged_remainder(MATRICES) {
    __shared__ float As[32][33], Bs[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx, whole = K / 32 * 32;
    float total = 0.f;
    for (int start = 0; start < whole; start += 32) {
        As[ty][tx] = row < M ? A[row * K + start + tx] : 0.f;
        Bs[ty][tx] = col < N ? B[(start + ty) * N + col] : 0.f;
        __syncthreads();
#pragma unroll
        for (int x = 0; x < 32; x++) total += As[ty][x] * Bs[x][tx];
        __syncthreads();
    }
    if (row >= M || col >= N) return;
    for (int x = whole; x < K; x++) total += A[row * K + x] * B[x * N + col];
    C[row * N + col] = total;
}

// Blocks of 32 x 8: the first 8 columns of threads load A.
__global__ void ragged_32x8(MATRICES) {
    __shared__ float As[8][8];
    __shared__ float Bs[8][32];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 8 + ty, col = blockIdx.x * 32 + tx;
    float total = 0.f;
    for (int start = 0; start < K; start += 8) {
        if (tx < 8) {
            if (row < M && start + tx < K)
                As[ty][tx] = A[row * K + start + tx];
            else
                As[ty][tx] = 0.f;
        }
        if (col < N && start + ty < K)
            Bs[ty][tx] = B[(start + ty) * N + col];
        else
            Bs[ty][tx] = 0.f;
        __syncthreads();
        for (int x = 0; x < 8; x++) total += As[ty][x] * Bs[x][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = total;
}

// 2 x 2 of a thread, sixteen apart, through a function that knows the bounds.
__device__ float element(const float* matrix, int r, int c, int rows, int cols) {
    return r < rows && c < cols ? matrix[r * cols + c] : 0.f;
}

__global__ void ragged_2x2(MATRICES) {
    __shared__ float As[32][16], Bs[16][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + tx;
    float total[2][2] = {{0.f, 0.f}, {0.f, 0.f}};
    for (int start = 0; start < K; start += 16) {
        As[ty][tx] = element(A, row, start + tx, M, K);
        As[ty + 16][tx] = element(A, row + 16, start + tx, M, K);
        Bs[ty][tx] = element(B, start + ty, col, K, N);
        Bs[ty][tx + 16] = element(B, start + ty, col + 16, K, N);
        __syncthreads();
        for (int x = 0; x < 16; x++)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) total[i][j] += As[ty + 16 * i][x] * Bs[x][tx + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (row + 16 * i < M && col + 16 * j < N) C[(row + 16 * i) * N + col + 16 * j] = total[i][j];
}

// 4 x 4 of a thread in 64 x 64; the tile of A is padded.
__global__ void ragged_4x4(MATRICES) {
    __shared__ float As[64][9], Bs[8][64];
    int t = threadIdx.x, tr = t / 16, tc = t % 16, top = blockIdx.y * 64, left = blockIdx.x * 64;
    float total[4][4] = {};
    for (int start = 0; start < K; start += 8) {
        for (int e = t; e < 512; e += 256) {
            As[e / 8][e % 8] = element(A, top + e / 8, start + e % 8, M, K);
            Bs[e / 64][e % 64] = element(B, start + e / 64, left + e % 64, K, N);
        }
        __syncthreads();
        for (int x = 0; x < 8; x++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) total[i][j] += As[tr * 4 + i][x] * Bs[x][tc + 16 * j];
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int row = top + tr * 4 + i, col = left + tc + 16 * j;
            if (row < M && col < N) C[row * N + col] = total[i][j];
        }
}
