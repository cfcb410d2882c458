// Products of matrices by the tensor cores, as courses write them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// One warp: C = 2 (A B), with fragments of any shape; scaled element by element.
#define ONE_WARP(name, M, N, K, T, ACC, LAYOUT_A, LAYOUT_B, LAYOUT_C)                                   \
    extern "C" __global__ void name(const T *a, const T *b, ACC *c, int lda, int ldb, int ldc)          \
    {                                                                                                   \
        wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::LAYOUT_A> fa;                                  \
        wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::LAYOUT_B> fb;                                  \
        wmma::fragment<wmma::accumulator, M, N, K, ACC> fc, start;                                      \
        wmma::load_matrix_sync(start, c, ldc, wmma::LAYOUT_C);                                          \
        wmma::load_matrix_sync(fa, a, lda);                                                             \
        wmma::load_matrix_sync(fb, b, ldb);                                                             \
        wmma::mma_sync(fc, fa, fb, start);                                                              \
        for (int i = 0; i < fc.num_elements; i++)                                                       \
            fc.x[i] = fc.x[i] * ACC(2);                                                                 \
        wmma::store_matrix_sync(c, fc, ldc, wmma::LAYOUT_C);                                            \
    }

ONE_WARP(half_square, 16, 16, 16, half, float, row_major, col_major, mem_row_major)
ONE_WARP(half_tall, 32, 8, 16, half, half, col_major, row_major, mem_row_major)
ONE_WARP(half_wide, 8, 32, 16, half, float, row_major, row_major, mem_col_major)
ONE_WARP(char_square, 16, 16, 16, signed char, int, row_major, col_major, mem_row_major)
ONE_WARP(byte_tall, 32, 8, 16, unsigned char, int, row_major, row_major, mem_col_major)
ONE_WARP(byte_wide, 8, 32, 16, unsigned char, int, col_major, col_major, mem_row_major)
#if __CUDA_ARCH__ >= 800
ONE_WARP(bfloat_square, 16, 16, 16, __nv_bfloat16, float, row_major, row_major, mem_row_major)
ONE_WARP(bfloat_tall, 32, 8, 16, __nv_bfloat16, float, col_major, col_major, mem_row_major)
ONE_WARP(bfloat_wide, 8, 32, 16, __nv_bfloat16, float, row_major, row_major, mem_row_major)
ONE_WARP(double_small, 8, 8, 4, double, double, row_major, col_major, mem_col_major)

extern "C" __global__ void tf32_square(const float *a, const float *b, float *c, int lda, int ldb, int ldc)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::load_matrix_sync(fc, c, ldc, wmma::mem_row_major);
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    for (int i = 0; i < fa.num_elements; i++)
        fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; i++)
        fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
    wmma::mma_sync(fc, fa, fb, fc);
    for (int i = 0; i < fc.num_elements; i++)
        fc.x[i] *= 2;
    wmma::store_matrix_sync(c, fc, ldc, wmma::mem_row_major);
}
#endif

// The course kernel: each warp of a block makes one 16 x 16 tile, A and B go through shared memory.
extern "C" __global__ void wmma_matmul(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ half tile_a[32][24];
    __shared__ half tile_b[16][40];
    int warp = threadIdx.x / 32, row = blockIdx.y * 32, column = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int start = 0; start < k; start += 16) {
        for (int i = threadIdx.x; i < 32 * 16; i += blockDim.x) {
            tile_a[i / 16][i % 16] = a[(row + i / 16) * k + start + i % 16];
            tile_b[i / 32][i % 32] = b[(start + i / 32) * n + column + i % 32];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
        wmma::load_matrix_sync(left, &tile_a[warp / 2 * 16][0], 24);
        wmma::load_matrix_sync(right, &tile_b[0][warp % 2 * 16], 40);
        wmma::mma_sync(sum, left, right, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(c + (row + warp / 2 * 16) * n + column + warp % 2 * 16, sum, n, wmma::mem_row_major);
}

// Inline PTX: a warp makes a 16 x 8 tile of C; A row by row, B row by row and transposed by ldmatrix.
extern "C" __global__ void ldmatrix_matmul(const half *a, const half *b, float *c, int n, int k)
{
    __shared__ __align__(16) half tile_a[16][16];
    __shared__ __align__(16) half tile_b[16][8];
    int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int start = 0; start < k; start += 16) {
        for (int i = lane; i < 16 * 16; i += 32)
            tile_a[i / 16][i % 16] = a[(row + i / 16) * k + start + i % 16];
        for (int i = lane; i < 16 * 8; i += 32)
            tile_b[i / 8][i % 8] = b[(start + i / 8) * n + column + i % 8];
        __syncwarp();
        unsigned left[4], right[2];
        unsigned from_a = __cvta_generic_to_shared(&tile_a[lane % 16][lane / 16 * 8]);
        unsigned from_b = __cvta_generic_to_shared(&tile_b[lane % 16][0]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3]) : "r"(from_a) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(right[0]), "=r"(right[1]) : "r"(from_b) : "memory");
#if __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
#else
        for (int half_k = 0; half_k < 2; half_k++)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                         "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                         : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                         : "r"(left[2 * half_k]), "r"(left[2 * half_k + 1]), "r"(right[half_k]));
#endif
        __syncwarp();
    }
    for (int i = 0; i < 4; i++)
        c[(row + lane / 4 + i / 2 * 8) * n + column + lane % 4 * 2 + i % 2] = sum[i];
}

// What goes wrong.
extern "C" __global__ void stale_tile(const half *a, float *c)
{
    __shared__ __align__(32) half tile[2][256];
    for (int i = threadIdx.x; i < 256; i += 32)
        tile[0][i] = a[i];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(left, tile[0], 16);
    wmma::load_matrix_sync(right, tile[1], 16); // never written
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

extern "C" __global__ void any_stride(const half *a, float *c, int stride)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::fill_fragment(right, __float2half(1.0f));
    wmma::load_matrix_sync(left, a, stride); // the stride may be wrong
    wmma::mma_sync(sum, left, right, sum);
    wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

extern "C" __global__ void half_a_warp(const half *a, float *c)
{
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 1.0f);
    if (threadIdx.x < 16)
        wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major); // the others go past
    if (threadIdx.x == 16)
        c[0] = 0.0f;
}
