// Tensor cores through PTX: ldmatrix brings halves from shared memory, mma.sync multiplies 16 x 8 x 16.
#include <cuda_fp16.h>

__global__ void kernel(const half* A, const half* B, float* C, int K, int N) {
    __shared__ __align__(16) half a[16][16], b[16][8];
    int lane = threadIdx.x, column = blockIdx.x * 8, row = blockIdx.y * 16;
    float d[4] = {0, 0, 0, 0};
    for (int start = 0; start < K; start += 16) {
        for (int i = lane; i < 16 * 16; i += 32) a[i / 16][i % 16] = A[(row + i / 16) * K + start + i % 16];
        for (int i = lane; i < 16 * 8; i += 32) b[i / 8][i % 8] = B[(start + i / 8) * N + column + i % 8];
        __syncthreads();
        unsigned of_a[4], of_b[2];
        unsigned from_a = (unsigned)__cvta_generic_to_shared(&a[lane % 16][lane / 16 * 8]);
        unsigned from_b = (unsigned)__cvta_generic_to_shared(&b[lane % 16][0]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(of_a[0]), "=r"(of_a[1]), "=r"(of_a[2]), "=r"(of_a[3]) : "r"(from_a) : "memory");
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(of_b[0]), "=r"(of_b[1]) : "r"(from_b) : "memory");
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(of_a[0]), "r"(of_a[1]), "r"(of_a[2]), "r"(of_a[3]), "r"(of_b[0]), "r"(of_b[1]));
        __syncthreads();
    }
    for (int half_row = 0; half_row < 2; ++half_row) {
        for (int k = 0; k < 2; ++k) C[(row + lane / 4 + 8 * half_row) * N + column + lane % 4 * 2 + k] = d[2 * half_row + k];
    }
}
