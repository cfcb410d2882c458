// Matrix products with blocks of elements in registers, and products that load the next tile while they use one.

#include <cuda_pipeline.h>

#define MATRICES const float *A, const float *B, float *C, int M, int K, int N

// A thread makes RM x RN neighbours; tiles are BM x BK and BK x BN, loaded in linear order.
template <int BM, int BN, int BK, int RM, int RN, int PAD>
__device__ void neighbours(MATRICES) {
    constexpr int THREADS = (BM / RM) * (BN / RN);
    __shared__ float As[BM * (BK + PAD)];
    __shared__ float Bs[BK * BN];
    const int t = threadIdx.x;
    const int r0 = t / (BN / RN) * RM, c0 = t % (BN / RN) * RN;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float acc[RM * RN] = {0.0f}, a[RM], b[RN];
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int e = t; e < BM * BK; e += THREADS) As[e / BK * (BK + PAD) + e % BK] = A[e / BK * K + e % BK];
        for (int e = t; e < BK * BN; e += THREADS) Bs[e] = B[e / BN * N + e % BN];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (int k = 0; k < BK; ++k) {
            for (int r = 0; r < RM; ++r) a[r] = As[(r0 + r) * (BK + PAD) + k];
            for (int c = 0; c < RN; ++c) b[c] = Bs[k * BN + c0 + c];
            for (int r = 0; r < RM; ++r)
                for (int c = 0; c < RN; ++c) acc[r * RN + c] += a[r] * b[c];
        }
        __syncthreads();
    }
    for (int r = 0; r < RM; ++r)
        for (int c = 0; c < RN; ++c) C[(r0 + r) * N + c0 + c] = acc[r * RN + c];
}

__global__ void regs_4x4(MATRICES) { neighbours<64, 64, 8, 4, 4, 0>(A, B, C, M, K, N); }
__global__ void regs_8x8(MATRICES) { neighbours<128, 128, 8, 8, 8, 0>(A, B, C, M, K, N); }
__global__ void regs_8x8_64(MATRICES) { neighbours<64, 64, 8, 8, 8, 1>(A, B, C, M, K, N); }
__global__ void regs_8x1(MATRICES) { neighbours<64, 64, 8, 8, 1, 0>(A, B, C, M, K, N); }
__global__ void regs_2x4(MATRICES) { neighbours<32, 64, 16, 2, 4, 1>(A, B, C, M, K, N); }
__global__ void regs_4x2_deep(MATRICES) { neighbours<64, 32, 32, 4, 2, 1>(A, B, C, M, K, N); }
__global__ void __launch_bounds__(256, 6) regs_4x4_bounded(MATRICES) {
    neighbours<64, 64, 16, 4, 4, 0>(A, B, C, M, K, N);
}

// A thread makes sixteen elements of a column: B goes to registers, A alone to shared memory.
__global__ void regs_column(MATRICES) {
    __shared__ float As[16][17];
    const int t = threadIdx.x, j = blockIdx.x * 64 + t, top = blockIdx.y * 16;
    float acc[16];
#pragma unroll
    for (int r = 0; r < 16; ++r) acc[r] = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
#pragma unroll
        for (int r = t / 16; r < 16; r += 4) As[t % 16][r] = A[(top + r) * K + k0 + t % 16];
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < 16; ++k) {
            const float b = B[(k0 + k) * N + j];
#pragma unroll
            for (int r = 0; r < 16; ++r) acc[r] += As[k][r] * b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 16; ++r) C[(top + r) * N + j] = acc[r];
}

// 128 threads make 8 x 4 each; a float4 of each matrix per thread and tile, A turned on its way.
__global__ void regs_8x4_vector(MATRICES) {
    __shared__ float4 At[8][16];
    __shared__ float4 Bs[8][16];
    const int t = threadIdx.x, tr = t / 16, tc = t % 16, top = blockIdx.y * 64, left = blockIdx.x * 64;
    float acc[8][4] = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        const float4 part = *(const float4*)&A[(top + t / 2) * K + k0 + t % 2 * 4];
        float* turned = (float*)At + t % 2 * 4 * 64 + t / 2;
        turned[0] = part.x;
        turned[64] = part.y;
        turned[128] = part.z;
        turned[192] = part.w;
        Bs[t / 16][t % 16] = *(const float4*)&B[(k0 + t / 16) * N + left + t % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const float4 lo = At[k][2 * tr], hi = At[k][2 * tr + 1], b = Bs[k][tc];
            const float a[8] = {lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w};
#pragma unroll
            for (int r = 0; r < 8; ++r) {
                acc[r][0] += a[r] * b.x;
                acc[r][1] += a[r] * b.y;
                acc[r][2] += a[r] * b.z;
                acc[r][3] += a[r] * b.w;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; ++r) {
        *(float4*)&C[(top + tr * 8 + r) * N + left + tc * 4] =
            make_float4(acc[r][0], acc[r][1], acc[r][2], acc[r][3]);
    }
}

// Two buffers that swap: one barrier for a tile.
template <int T>
__device__ void swapping(MATRICES) {
    __shared__ float As[2][T][T], Bs[2][T][T];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    int now = 0;
    float acc = 0.0f;
    As[0][ty][tx] = A[row * K + tx];
    Bs[0][ty][tx] = B[ty * N + col];
    __syncthreads();
    for (int k0 = T; k0 <= K; k0 += T) {
        if (k0 < K) {
            As[now ^ 1][ty][tx] = A[row * K + k0 + tx];
            Bs[now ^ 1][ty][tx] = B[(k0 + ty) * N + col];
        }
#pragma unroll
        for (int k = 0; k < T; ++k) acc += As[now][ty][k] * Bs[now][k][tx];
        __syncthreads();
        now ^= 1;
    }
    C[row * N + col] = acc;
}

__global__ void swap_8(MATRICES) { swapping<8>(A, B, C, M, K, N); }
__global__ void swap_32(MATRICES) { swapping<32>(A, B, C, M, K, N); }

// Copies that nobody waits for until the tile after this one is asked for.
__global__ void copies_16(MATRICES) {
    __shared__ float As[2][16][16], Bs[2][16][16];
    const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.0f;
    __pipeline_memcpy_async(&As[0][ty][tx], &A[row * K + tx], 4);
    __pipeline_memcpy_async(&Bs[0][ty][tx], &B[ty * N + col], 4);
    __pipeline_commit();
    for (int tile = 0; tile < K / 16; ++tile) {
        const int next = (tile + 1) * 16;
        if (next < K) {
            __pipeline_memcpy_async(&As[(tile + 1) & 1][ty][tx], &A[row * K + next + tx], 4);
            __pipeline_memcpy_async(&Bs[(tile + 1) & 1][ty][tx], &B[(next + ty) * N + col], 4);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) acc += As[tile & 1][ty][k] * Bs[tile & 1][k][tx];
        __syncthreads();
    }
    C[row * N + col] = acc;
}

// 4 x 4 a thread, a block's width apart; the next tiles wait in registers, then go to the other buffer.
__global__ void swap_4x4(MATRICES) {
    __shared__ float As[2][16][65];
    __shared__ float Bs[2][16][64];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    const int top = blockIdx.y * 64, left = blockIdx.x * 64;
    const int ar = t / 16, ak = t % 16, bk = t / 64, bc = t % 64;
    float acc[4][4] = {}, nextA[4], nextB[4];
    for (int s = 0; s < 4; ++s) {
        As[0][ak][ar + 16 * s] = A[(top + ar + 16 * s) * K + ak];
        Bs[0][bk + 4 * s][bc] = B[(bk + 4 * s) * N + left + bc];
    }
    __syncthreads();
    int now = 0;
    for (int k0 = 16; k0 <= K; k0 += 16) {
        const bool more = k0 < K;
        if (more) {
            for (int s = 0; s < 4; ++s) {
                nextA[s] = A[(top + ar + 16 * s) * K + k0 + ak];
                nextB[s] = B[(k0 + bk + 4 * s) * N + left + bc];
            }
        }
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            float a[4], b[4];
            for (int s = 0; s < 4; ++s) {
                a[s] = As[now][k][ty + 16 * s];
                b[s] = Bs[now][k][tx + 16 * s];
            }
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c) acc[r][c] += a[r] * b[c];
        }
        now = 1 - now;
        if (more) {
            for (int s = 0; s < 4; ++s) {
                As[now][ak][ar + 16 * s] = nextA[s];
                Bs[now][bk + 4 * s][bc] = nextB[s];
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) C[(top + ty + 16 * r) * N + left + tx + 16 * c] = acc[r][c];
}
