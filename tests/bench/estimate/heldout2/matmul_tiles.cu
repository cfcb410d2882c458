// Tiled matrix products in which a thread makes one element, or some of one row or column.

#define MATRICES const float *A, const float *B, float *C, int M, int K, int N

// Square tiles, no bounds checked: pointers walk along A and down B.
template <int T, int PAD, int UNROLL>
__device__ void square(MATRICES) {
    __shared__ float As[T][T + PAD];
    __shared__ float Bs[T][T + PAD];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const float* a = A + (blockIdx.y * T + ty) * K + tx;
    const float* b = B + ty * N + blockIdx.x * T + tx;
    float acc = 0.0f;
    for (int phase = 0; phase < K / T; ++phase) {
        As[ty][tx] = *a;
        Bs[ty][tx] = *b;
        a += T;
        b += T * N;
        __syncthreads();
#pragma unroll UNROLL
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[(blockIdx.y * T + ty) * N + blockIdx.x * T + tx] = acc;
}

__global__ void tw8(MATRICES) { square<8, 0, 8>(A, B, C, M, K, N); }
__global__ void tw8_loop(MATRICES) { square<8, 0, 1>(A, B, C, M, K, N); }
__global__ void tw8_pad(MATRICES) { square<8, 1, 8>(A, B, C, M, K, N); }
__global__ void tw16(MATRICES) { square<16, 0, 16>(A, B, C, M, K, N); }
__global__ void tw16_pad(MATRICES) { square<16, 1, 16>(A, B, C, M, K, N); }
__global__ void tw16_by2(MATRICES) { square<16, 0, 2>(A, B, C, M, K, N); }
__global__ void tw32(MATRICES) { square<32, 0, 32>(A, B, C, M, K, N); }
__global__ void tw32_by2(MATRICES) { square<32, 0, 2>(A, B, C, M, K, N); }
__global__ void tw32_by4(MATRICES) { square<32, 0, 4>(A, B, C, M, K, N); }
__global__ void tw32_pad_loop(MATRICES) { square<32, 1, 1>(A, B, C, M, K, N); }

// Rectangular blocks: some threads have nothing to load of one of the tiles.
template <int TX, int TY, int TK>
__device__ void rectangle(MATRICES) {
    __shared__ float As[TY * TK];
    __shared__ float Bs[TK * TX];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TY + ty, col = blockIdx.x * TX + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TK) {
        if (tx < TK) As[ty * TK + tx] = A[row * K + k0 + tx];
        if (ty < TK) Bs[ty * TX + tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TK; ++k) acc += As[ty * TK + k] * Bs[k * TX + tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}

__global__ void rect_32x16(MATRICES) { rectangle<32, 16, 16>(A, B, C, M, K, N); }
__global__ void rect_16x32(MATRICES) { rectangle<16, 32, 16>(A, B, C, M, K, N); }
__global__ void rect_64x8(MATRICES) { rectangle<64, 8, 8>(A, B, C, M, K, N); }
__global__ void rect_8x32(MATRICES) { rectangle<8, 32, 8>(A, B, C, M, K, N); }

// B is read along its columns: far apart in global memory, and stored along a column of the tile.
template <int T, int PAD>
__device__ void b_by_columns(MATRICES) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T + PAD];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, left = blockIdx.x * T;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += T) {
        As[ty][tx] = A[row * K + k0 + tx];
        Bs[tx][ty] = B[(k0 + tx) * N + left + ty];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * N + left + tx] = acc;
}

__global__ void b_columns_16(MATRICES) { b_by_columns<16, 0>(A, B, C, M, K, N); }
__global__ void b_columns_32(MATRICES) { b_by_columns<32, 0>(A, B, C, M, K, N); }
__global__ void b_columns_32_pad(MATRICES) { b_by_columns<32, 1>(A, B, C, M, K, N); }

// Loads go along rows, but x is the row in the product: a column of the tile is read, C is written by columns.
__global__ void crossed_32(MATRICES) {
    __shared__ float As[32][32], Bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.x * 32, left = blockIdx.y * 32;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 32) {
        As[ty][tx] = A[(top + ty) * K + k0 + tx];
        Bs[ty][tx] = B[(k0 + ty) * N + left + tx];
        __syncthreads();
        for (int k = 0; k < 32; ++k) acc += As[tx][k] * Bs[k][ty];
        __syncthreads();
    }
    C[(top + tx) * N + left + ty] = acc;
}

// Long strips of both matrices, in arrays twice as large as they need be: few barriers, few blocks at a time.
__global__ void strips_16(MATRICES) {
    __shared__ float As[16][256];
    __shared__ float Bs[256][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 128) {
        for (int k = 0; k < 128; k += 16) {
            As[ty][k + tx] = A[row * K + k0 + k + tx];
            Bs[k + ty][tx] = B[(k0 + k + ty) * N + col];
        }
        __syncthreads();
        for (int k = 0; k < 128; ++k) acc += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[row * N + col] = acc;
}

// 1 x 2: two tiles of B beside each other, loaded as float2.
__global__ void coarse_1x2(MATRICES) {
    __shared__ float As[16][16];
    __shared__ float2 Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 32 + 2 * tx;
    float left = 0.0f, right = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = A[row * K + k0 + tx];
        Bs[ty][tx] = *(const float2*)&B[(k0 + ty) * N + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float a = As[ty][k];
            float2 b = Bs[k][tx];
            left += a * b.x;
            right += a * b.y;
        }
        __syncthreads();
    }
    C[row * N + col] = left;
    C[row * N + col + 1] = right;
}

// 2 x 1: two tiles of A, one above the other, for 1024 threads.
__global__ void coarse_2x1(MATRICES) {
    __shared__ float As[64][32];
    __shared__ float Bs[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 64 + ty, col = blockIdx.x * 32 + tx;
    float acc[2] = {0.0f, 0.0f};
    for (int k0 = 0; k0 < K; k0 += 32) {
        As[ty][tx] = A[row * K + k0 + tx];
        As[ty + 32][tx] = A[(row + 32) * K + k0 + tx];
        Bs[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < 32; ++k) {
            acc[0] += As[ty][k] * Bs[k][tx];
            acc[1] += As[ty + 32][k] * Bs[k][tx];
        }
        __syncthreads();
    }
    C[row * N + col] = acc[0];
    C[(row + 32) * N + col] = acc[1];
}

// 2 x 2 neighbours, the tile of A padded.
__global__ void coarse_2x2(MATRICES) {
    __shared__ float As[32][17];
    __shared__ float2 Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 32 + 2 * ty, col = blockIdx.x * 32 + 2 * tx;
    float2 up = {0.0f, 0.0f}, down = up;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[2 * ty][tx] = A[row * K + k0 + tx];
        As[2 * ty + 1][tx] = A[(row + 1) * K + k0 + tx];
        Bs[ty][tx] = *(const float2*)&B[(k0 + ty) * N + col];
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < 16; ++k) {
            float2 b = Bs[k][tx];
            up.x += As[2 * ty][k] * b.x;
            up.y += As[2 * ty][k] * b.y;
            down.x += As[2 * ty + 1][k] * b.x;
            down.y += As[2 * ty + 1][k] * b.y;
        }
        __syncthreads();
    }
    *(float2*)&C[row * N + col] = up;
    *(float2*)&C[(row + 1) * N + col] = down;
}

// 4 x 1: A stands transposed in shared memory, so that four rows are one float4.
__global__ void coarse_4x1(MATRICES) {
    __shared__ __align__(16) float At[16][16];
    __shared__ float Bs[16][64];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * 64 + tx;
    int top = blockIdx.y * 16, col = blockIdx.x * 64 + tx;
    float4 acc = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < K; k0 += 16) {
        At[thread % 16][thread / 16] = A[(top + thread / 16) * K + k0 + thread % 16];
        for (int k = ty; k < 16; k += 4) Bs[k][tx] = B[(k0 + k) * N + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float4 a = *(const float4*)&At[k][4 * ty];
            float b = Bs[k][tx];
            acc.x += a.x * b;
            acc.y += a.y * b;
            acc.z += a.z * b;
            acc.w += a.w * b;
        }
        __syncthreads();
    }
    C[(top + 4 * ty) * N + col] = acc.x;
    C[(top + 4 * ty + 1) * N + col] = acc.y;
    C[(top + 4 * ty + 2) * N + col] = acc.z;
    C[(top + 4 * ty + 3) * N + col] = acc.w;
}

// 1 x 4: everything that moves is a float4; a block has 8 x 32 threads.
__global__ void coarse_1x4(MATRICES) {
    __shared__ float4 As[32][9];
    __shared__ float4 Bs[32][8];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 32 + ty, col = blockIdx.x * 32 + 4 * tx;
    float acc[4] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        As[ty][tx] = *(const float4*)(A + row * K + k0 + 4 * tx);
        Bs[ty][tx] = *(const float4*)(B + (k0 + ty) * N + col);
        __syncthreads();
        const float* mine = (const float*)As[ty];
#pragma unroll
        for (int k = 0; k < 32; ++k) {
            const float4 b = Bs[k][tx];
            acc[0] += mine[k] * b.x;
            acc[1] += mine[k] * b.y;
            acc[2] += mine[k] * b.z;
            acc[3] += mine[k] * b.w;
        }
        __syncthreads();
    }
    *(float4*)(C + row * N + col) = make_float4(acc[0], acc[1], acc[2], acc[3]);
}
