// Products in double precision, of whole numbers, of a transposed matrix, and of many small matrices.

#define DOUBLES const double *A, const double *B, double *C, int M, int K, int N

__global__ void dp_basic(DOUBLES) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M || c >= N) return;
    double s = 0;
    for (int k = 0; k < K; k++) s += A[r * K + k] * B[k * N + c];
    C[r * N + c] = s;
}

template <int T>
__device__ void dp_tiled(DOUBLES) {
    __shared__ double tileA[T][T], tileB[T][T];
    int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * T + y, c = blockIdx.x * T + x;
    double s = 0;
    for (int t = 0; t < K; t += T) {
        tileA[y][x] = r < M && t + x < K ? A[r * K + t + x] : 0.0;
        tileB[y][x] = t + y < K && c < N ? B[(t + y) * N + c] : 0.0;
        __syncthreads();
        for (int k = 0; k < T; k++) s += tileA[y][k] * tileB[k][x];
        __syncthreads();
    }
    if (r < M && c < N) C[r * N + c] = s;
}

__global__ void dp_tile8(DOUBLES) { dp_tiled<8>(A, B, C, M, K, N); }
__global__ void dp_tile16(DOUBLES) { dp_tiled<16>(A, B, C, M, K, N); }
__global__ void dp_tile32(DOUBLES) { dp_tiled<32>(A, B, C, M, K, N); }

__global__ void dp_regs_2x2(DOUBLES) {
    __shared__ double tileA[16][33], tileB[16][32];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * 32, left = blockIdx.x * 32;
    double s00 = 0, s01 = 0, s10 = 0, s11 = 0;
    for (int t = 0; t < K; t += 16) {
        tileA[x][y] = A[(top + y) * K + t + x];
        tileA[x][y + 16] = A[(top + y + 16) * K + t + x];
        tileB[y][x] = B[(t + y) * N + left + x];
        tileB[y][x + 16] = B[(t + y) * N + left + x + 16];
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            double a0 = tileA[k][y], a1 = tileA[k][y + 16], b0 = tileB[k][x], b1 = tileB[k][x + 16];
            s00 += a0 * b0;
            s01 += a0 * b1;
            s10 += a1 * b0;
            s11 += a1 * b1;
        }
        __syncthreads();
    }
    C[(top + y) * N + left + x] = s00;
    C[(top + y) * N + left + x + 16] = s01;
    C[(top + y + 16) * N + left + x] = s10;
    C[(top + y + 16) * N + left + x + 16] = s11;
}

#define INTEGERS const int *A, const int *B, int *C, int M, int K, int N

__global__ void whole_basic(INTEGERS) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M || c >= N) return;
    int s = 0;
    for (int k = 0; k < K; k++) s += A[r * K + k] * B[k * N + c];
    C[r * N + c] = s;
}

// The tile's edge is a multiple of four: rows are read as int4.
__global__ void whole_tiled(INTEGERS) {
    __shared__ int4 tileA[32][8];
    __shared__ int tileB[32][32];
    int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 32 + y, c = blockIdx.x * 32 + x;
    int s = 0;
    for (int t = 0; t < K; t += 32) {
        if (x < 8) tileA[y][x] = ((const int4*)(A + r * K + t))[x];
        tileB[y][x] = B[(t + y) * N + c];
        __syncthreads();
#pragma unroll 4
        for (int q = 0; q < 8; q++) {
            int4 a = tileA[y][q];
            s += a.x * tileB[4 * q][x] + a.y * tileB[4 * q + 1][x];
            s += a.z * tileB[4 * q + 2][x] + a.w * tileB[4 * q + 3][x];
        }
        __syncthreads();
    }
    C[r * N + c] = s;
}

// A is K x M: C = A^T B.
#define FLOATS const float *A, const float *B, float *C, int M, int K, int N

__global__ void at_b_basic(FLOATS) {
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    if (r < M && c < N) {
        for (int k = 0; k < K; k++) s += A[k * M + r] * B[k * N + c];
        C[r * N + c] = s;
    }
}

// Both tiles are read along rows, and both are used along rows.
__global__ void at_b_tiled(FLOATS) {
    __shared__ float tileA[16][16], tileB[16][16];
    int x = threadIdx.x, y = threadIdx.y, top = blockIdx.y * 16, left = blockIdx.x * 16;
    float s = 0;
    for (int t = 0; t < K; t += 16) {
        tileA[y][x] = A[(t + y) * M + top + x];
        tileB[y][x] = B[(t + y) * N + left + x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) s += tileA[k][y] * tileB[k][x];
        __syncthreads();
    }
    C[(top + y) * N + left + x] = s;
}

// An outer product for each k: four by four of a thread, float4 from both tiles.
__global__ void at_b_outer(FLOATS) {
    __shared__ float4 tileA[8][16], tileB[8][16];
    int t = threadIdx.x, tr = t / 16, tc = t % 16, top = blockIdx.y * 64, left = blockIdx.x * 64;
    float s[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        if (t < 128) {
            tileA[t / 16][t % 16] = *(const float4*)&A[(k0 + t / 16) * M + top + t % 16 * 4];
        } else {
            int u = t - 128;
            tileB[u / 16][u % 16] = *(const float4*)&B[(k0 + u / 16) * N + left + u % 16 * 4];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 8; k++) {
            float4 a = tileA[k][tr], b = tileB[k][tc];
            float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) s[i][j] += av[i] * bv[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4*)&C[(top + tr * 4 + i) * N + left + tc * 4] = make_float4(s[i][0], s[i][1], s[i][2], s[i][3]);
}

// P products of 8 x 8 matrices.
#define MANY const float *A, const float *B, float *C, int P

__global__ void eights_basic(MANY) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int p = id / 64, r = id / 8 % 8, c = id % 8;
    if (p >= P) return;
    float s = 0;
    for (int k = 0; k < 8; k++) s += A[p * 64 + r * 8 + k] * B[p * 64 + k * 8 + c];
    C[id] = s;
}

// A thread has a whole product.
__global__ void eights_thread(MANY) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= P) return;
    const float *a = A + 64 * p, *b = B + 64 * p;
    for (int r = 0; r < 8; r++) {
        float s[8] = {};
        for (int k = 0; k < 8; k++) {
            float v = a[r * 8 + k];
            for (int c = 0; c < 8; c++) s[c] += v * b[k * 8 + c];
        }
        for (int c = 0; c < 8; c++) C[64 * p + r * 8 + c] = s[c];
    }
}

// Sixteen lanes have four elements each; a matrix is sixteen float4.
__global__ void eights_vector(MANY) {
    __shared__ float4 a[16][16], b[16][16];
    int own = threadIdx.x / 16, q = threadIdx.x % 16, p = blockIdx.x * 16 + own;
    if (p < P) {
        a[own][q] = ((const float4*)A)[p * 16 + q];
        b[own][q] = ((const float4*)B)[p * 16 + q];
    }
    __syncthreads();
    if (p >= P) return;
    const float* row = (const float*)&a[own][q / 2 * 2];
    float4 s = make_float4(0, 0, 0, 0);
    for (int k = 0; k < 8; k++) {
        float4 v = b[own][2 * k + q % 2];
        s.x += row[k] * v.x;
        s.y += row[k] * v.y;
        s.z += row[k] * v.z;
        s.w += row[k] * v.w;
    }
    ((float4*)C)[p * 16 + q] = s;
}

// A warp has two rows of a lane each way: elements are exchanged by shuffles, and no memory is shared.
__global__ void eights_shuffle(MANY) {
    int lane = threadIdx.x % 32, p = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (p >= P) return;
    float a0 = A[p * 64 + lane], a1 = A[p * 64 + 32 + lane], b0 = B[p * 64 + lane], b1 = B[p * 64 + 32 + lane];
    float s0 = 0, s1 = 0;
    for (int k = 0; k < 8; k++) {
        int from_a = lane / 8 * 8 + k, from_b = k % 4 * 8 + lane % 8;
        float b = __shfl_sync(0xffffffff, k < 4 ? b0 : b1, from_b);
        s0 += __shfl_sync(0xffffffff, a0, from_a) * b;
        s1 += __shfl_sync(0xffffffff, a1, from_a) * b;
    }
    C[p * 64 + lane] = s0;
    C[p * 64 + 32 + lane] = s1;
}
