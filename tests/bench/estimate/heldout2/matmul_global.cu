// Matrix products straight from global memory: the first one that students write, and what they make of it.

#define MATRICES const float *A, const float *B, float *C, int M, int K, int N

__global__ void mm_basic(MATRICES) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < M && j < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k) {
            acc = acc + A[i * K + k] * B[k * N + j];
        }
        C[i * N + j] = acc;
    }
}

// x is taken for the row: neighbouring threads read and write a whole row apart.
__global__ void mm_rows_along_x(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                int M, int K, int N) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N) return;
    float acc = 0.0f;
#pragma unroll 4
    for (int k = 0; k < K; ++k) acc = fmaf(A[i * K + k], B[k * N + j], acc);
    C[i * N + j] = acc;
}

// 1 x 2: a pair of columns, loaded and stored as a float2.
__global__ void mm_two_columns(MATRICES) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || 2 * pair >= N) return;
    const float2* B2 = reinterpret_cast<const float2*>(B);
    float2 acc = {0.0f, 0.0f};
    for (int k = 0; k < K; ++k) {
        const float a = A[i * K + k];
        const float2 b = B2[k * (N / 2) + pair];
        acc.x += a * b.x;
        acc.y += a * b.y;
    }
    reinterpret_cast<float2*>(C)[i * (N / 2) + pair] = acc;
}

// 2 x 1: one row of the upper half of C and the same of the lower half.
__global__ void mm_two_rows_far(MATRICES) {
    const int half = M / 2;
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= half || j >= N) return;
    float upper = 0.0f, lower = 0.0f;
#pragma unroll 2
    for (int k = 0; k < K; ++k) {
        const float b = B[k * N + j];
        upper += A[i * K + k] * b;
        lower += A[(i + half) * K + k] * b;
    }
    C[i * N + j] = upper;
    C[(i + half) * N + j] = lower;
}

// 2 x 2 neighbours of a thread, no bounds checked.
__global__ void mm_two_by_two(MATRICES) {
    const int i = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    const int j = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    float c00 = 0, c01 = 0, c10 = 0, c11 = 0;
    for (int k = 0; k < K; ++k) {
        const float a0 = A[i * K + k], a1 = A[(i + 1) * K + k];
        const float b0 = B[k * N + j], b1 = B[k * N + j + 1];
        c00 = fmaf(a0, b0, c00);
        c01 = fmaf(a0, b1, c01);
        c10 = fmaf(a1, b0, c10);
        c11 = fmaf(a1, b1, c11);
    }
    C[i * N + j] = c00;
    C[i * N + j + 1] = c01;
    C[(i + 1) * N + j] = c10;
    C[(i + 1) * N + j + 1] = c11;
}

// 4 x 1: rows that are the block's height apart, eight steps of k at a time.
__global__ void mm_four_rows(MATRICES) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int first = blockIdx.y * blockDim.y * 4 + threadIdx.y;
    float acc[4] = {0, 0, 0, 0};
#pragma unroll 8
    for (int k = 0; k < K; ++k) {
        const float b = B[k * N + j];
        for (int r = 0; r < 4; ++r) acc[r] += A[(first + r * blockDim.y) * K + k] * b;
    }
    for (int r = 0; r < 4; ++r) C[(first + r * blockDim.y) * N + j] = acc[r];
}

// 4 x 4 of a thread: float4 along k of A, float4 along the columns of B, nothing in shared memory.
__global__ void mm_four_by_four(MATRICES) {
    const int row = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
    const int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    float4 acc[4];
    for (int r = 0; r < 4; ++r) acc[r] = make_float4(0, 0, 0, 0);
    for (int k = 0; k < K; k += 4) {
        float4 b[4];
#pragma unroll
        for (int s = 0; s < 4; ++s) b[s] = *reinterpret_cast<const float4*>(&B[(k + s) * N + col]);
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const float4 a = *reinterpret_cast<const float4*>(&A[(row + r) * K + k]);
            acc[r].x += a.x * b[0].x + a.y * b[1].x + a.z * b[2].x + a.w * b[3].x;
            acc[r].y += a.x * b[0].y + a.y * b[1].y + a.z * b[2].y + a.w * b[3].y;
            acc[r].z += a.x * b[0].z + a.y * b[1].z + a.z * b[2].z + a.w * b[3].z;
            acc[r].w += a.x * b[0].w + a.y * b[1].w + a.z * b[2].w + a.w * b[3].w;
        }
    }
    for (int r = 0; r < 4; ++r) *reinterpret_cast<float4*>(&C[(row + r) * N + col]) = acc[r];
}

// As many blocks as fit at once go over the elements of C.
__global__ void mm_grid_stride(MATRICES) {
    const int total = M * N;
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < total; e += blockDim.x * gridDim.x) {
        const int i = e / N, j = e - i * N;
        float acc = 0.0f;
        for (int k = 0; k < K; ++k) acc += A[i * K + k] * B[k * N + j];
        C[e] = acc;
    }
}

// Read-only loads, sixteen steps at a time, the addresses counted on.
__global__ void mm_read_only(MATRICES) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const float* a = A + i * K;
    const float* b = B + j;
    float acc = 0.0f;
#pragma unroll 16
    for (int k = 0; k < K; ++k) {
        acc += __ldg(a + k) * __ldg(b);
        b += N;
    }
    C[i * N + j] = acc;
}

// The sum stands in a shared array that is far larger than the block needs: one block at a time has room beside few.
__global__ void mm_hoards_shared(MATRICES) {
    __shared__ float sums[11000];
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    const int own = 656 * threadIdx.y + threadIdx.x;
    sums[own] = 0.0f;
    for (int k = 0; k < K; ++k) sums[own] += A[i * K + k] * B[k * N + j];
    C[i * N + j] = sums[own];
}

// Registers are held down to thirty-two so that eight blocks may stay.
__global__ void __launch_bounds__(256, 8) mm_bounded(MATRICES) {
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    float even = 0.0f, odd = 0.0f;
    if (i >= M || j >= N) return;
#pragma unroll 4
    for (int k = 0; k < K; k += 2) {
        even += A[i * K + k] * B[k * N + j];
        odd += A[i * K + k + 1] * B[(k + 1) * N + j];
    }
    C[i * N + j] = even + odd;
}

// A block makes a whole row of C, from a row of A that it keeps.
__global__ void mm_block_per_row(MATRICES) {
    __shared__ float row[4096];
    const int i = blockIdx.x;
    for (int k = threadIdx.x; k < K; k += blockDim.x) row[k] = A[i * K + k];
    __syncthreads();
    for (int j = threadIdx.x; j < N; j += blockDim.x) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k) acc += row[k] * B[k * N + j];
        C[i * N + j] = acc;
    }
}
