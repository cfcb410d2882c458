// Products with the second matrix transposed, and of many small matrices.

#define PRODUCT(name) \
    extern "C" __global__ void name(const float* A, const float* B, float* C, int M, int K, int N)

// C = A · Bᵀ: both are read along their rows.
PRODUCT(rows_by_rows_naive) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++) sum += A[row * K + k] * B[column * K + k];
    C[row * N + column] = sum;
}

PRODUCT(rows_by_rows_tiled) {
    __shared__ float a[16][16], b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, first = blockIdx.x * 16;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 16) {
        a[ty][tx] = A[row * K + start + tx];
        b[ty][tx] = B[(first + ty) * K + start + tx];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a[ty][k] * b[tx][k];
        __syncthreads();
    }
    C[row * N + first + tx] = sum;
}

PRODUCT(rows_by_rows_padded) {
    __shared__ float a[16][17], b[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, first = blockIdx.x * 16;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 16) {
        a[ty][tx] = A[row * K + start + tx];
        b[ty][tx] = B[(first + ty) * K + start + tx];
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a[ty][k] * b[tx][k];
        __syncthreads();
    }
    C[row * N + first + tx] = sum;
}

PRODUCT(rows_by_rows_float4) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || column >= N) return;
    const float4 *a = (const float4*)(A + row * K), *b = (const float4*)(B + column * K);
    float sum = 0.0f;
    for (int k = 0; k < K / 4; k++) {
        float4 u = a[k], v = b[k];
        sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
    }
    C[row * N + column] = sum;
}

#define BATCH(name) extern "C" __global__ void name(const float* A, const float* B, float* C, int P)

// Matrices of 16 × 16, a block each.
BATCH(batch_naive) {
    int at = blockIdx.x * 256, tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < 16; k++) sum += A[at + ty * 16 + k] * B[at + k * 16 + tx];
    C[at + ty * 16 + tx] = sum;
}

BATCH(batch_shared) {
    __shared__ float a[16][16], b[16][16];
    int at = blockIdx.x * 256, tx = threadIdx.x, ty = threadIdx.y;
    a[ty][tx] = A[at + ty * 16 + tx];
    b[ty][tx] = B[at + ty * 16 + tx];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 16; k++) sum += a[ty][k] * b[k][tx];
    C[at + ty * 16 + tx] = sum;
}

// Four matrices to a block, one after the other.
BATCH(batch_four) {
    __shared__ float a[16][16], b[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    for (int p = blockIdx.x * 4; p < blockIdx.x * 4 + 4 && p < P; p++) {
        int at = p * 256;
        a[ty][tx] = A[at + ty * 16 + tx];
        b[ty][tx] = B[at + ty * 16 + tx];
        __syncthreads();
        float sum = 0.0f;
        for (int k = 0; k < 16; k++) sum += a[ty][k] * b[k][tx];
        C[at + ty * 16 + tx] = sum;
        __syncthreads();
    }
}

// Sixteen threads make a matrix, a row each, from B in shared memory.
BATCH(batch_rows) {
    __shared__ float b[8][256];
    int own = threadIdx.y, row = threadIdx.x, p = blockIdx.x * 8 + own;
    bool inside = p < P;
    if (inside) {
        for (int i = row; i < 256; i += 16) b[own][i] = B[p * 256 + i];
    }
    __syncthreads();
    if (!inside) return;
    float sum[16] = {};
    for (int k = 0; k < 16; k++) {
        float a = A[p * 256 + row * 16 + k];
        for (int j = 0; j < 16; j++) sum[j] += a * b[own][k * 16 + j];
    }
    for (int j = 0; j < 16; j++) C[p * 256 + row * 16 + j] = sum[j];
}
