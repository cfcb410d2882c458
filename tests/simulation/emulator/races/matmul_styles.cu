// Matrix multiplication in the styles that students bring along.
// launch: grid 2 2, block 64: in float32[16,24], in float32[24,16], out float32[16,16], 24

// One-dimensional tiles in a one-dimensional block: the end of a turn is a matter of all warps.
extern "C" __global__ void racy_flat_tiles(const float* A, const float* B, float* C, int K) {
    __shared__ float a[64], b[64];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    int row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 8) {
        a[8 * y + x] = A[row * K + start + x];
        b[8 * y + x] = B[(start + y) * 16 + col];  // race WAR b @right
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float left = a[8 * y + k];
            float right = b[8 * k + x];  // @right
            sum += left * right;
        }
        __syncwarp();
    }
    C[row * 16 + col] = sum;
}

extern "C" __global__ void clean_flat_tiles(const float* A, const float* B, float* C, int K) {
    __shared__ float a[64], b[64];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    int row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 8) {
        a[8 * y + x] = A[row * K + start + x];
        b[8 * y + x] = B[(start + y) * 16 + col];
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float left = a[8 * y + k];
            float right = b[8 * k + x];
            sum += left * right;
        }
        __syncthreads();
    }
    C[row * 16 + col] = sum;
}

// Rows of the tile are shorter than rows of the block.
// launch: grid 1 1, block 16 16: in float32[16,48], in float32[24,16], out float32[16,16], 24
extern "C" __global__ void racy_short_rows(const float* A, const float* B, float* C, int K) {
    __shared__ float a[16][8], b[8][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 8) {
        a[y][x % 8] = A[y * 48 + start + x];  // race warning WAW a here
        if (y < 8) b[y][x] = B[(start + y) * 16 + x];
        __syncthreads();
        for (int k = 0; k < 8; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[y * 16 + x] = sum;
}

extern "C" __global__ void clean_short_rows(const float* A, const float* B, float* C, int K) {
    __shared__ float a[16][8], b[8][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 8) {
        if (x < 8) a[y][x] = A[y * 48 + start + x];
        if (y < 8) b[y][x] = B[(start + y) * 16 + x];
        __syncthreads();
        for (int k = 0; k < 8; ++k) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[y * 16 + x] = sum;
}

// The barrier that the last turn does not need, left out one turn too early.
// launch: grid 1, block 8 8: in float32[32,24], in float32[24,8], out float32[32,8], 24
extern "C" __global__ void racy_register_column(const float* A, const float* B, float* C, int K) {
    __shared__ float b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int start = 0; start < K; start += 8) {
        b[y][x] = B[(start + y) * 8 + x];  // race WAR b @use
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float right = b[k][x];  // @use
            for (int r = 0; r < 4; ++r) sums[r] += A[(y + 8 * r) * K + start + k] * right;
        }
        if (start + 16 < K) __syncthreads();
    }
    for (int r = 0; r < 4; ++r) C[(y + 8 * r) * 8 + x] = sums[r];
}

extern "C" __global__ void clean_register_column(const float* A, const float* B, float* C, int K) {
    __shared__ float b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int start = 0; start < K; start += 8) {
        b[y][x] = B[(start + y) * 8 + x];
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float right = b[k][x];
            for (int r = 0; r < 4; ++r) sums[r] += A[(y + 8 * r) * K + start + k] * right;
        }
        if (start + 8 < K) __syncthreads();
    }
    for (int r = 0; r < 4; ++r) C[(y + 8 * r) * 8 + x] = sums[r];
}

// The next tile waits in a register until its buffer is free.
// launch: grid 1, block 8 8: in float32[8,32], in float32[32,8], out float32[8,8], 32
extern "C" __global__ void racy_staged_in_register(const float* A, const float* B, float* C, int K) {
    __shared__ float tile[2][8][8];
    int x = threadIdx.x, y = threadIdx.y, turn = 0;
    float sum = 0.0f;
    tile[0][y][x] = B[y * 8 + x];
    __syncthreads();
    for (int start = 0; start < K; start += 8) {
        float staged = start + 8 < K ? B[(start + 8 + y) * 8 + x] : 0.0f;
        for (int k = 0; k < 8; ++k) {
            float right = tile[turn][k][x];  // @use
            sum += A[y * K + start + k] * right;
        }
        int next = turn;
        tile[next][y][x] = staged;  // race WAR tile @use
        __syncthreads();
        turn = next;
    }
    C[y * 8 + x] = sum;
}

extern "C" __global__ void clean_staged_in_register(const float* A, const float* B, float* C, int K) {
    __shared__ float tile[2][8][8];
    int x = threadIdx.x, y = threadIdx.y, turn = 0;
    float sum = 0.0f;
    tile[0][y][x] = B[y * 8 + x];
    __syncthreads();
    for (int start = 0; start < K; start += 8) {
        float staged = start + 8 < K ? B[(start + 8 + y) * 8 + x] : 0.0f;
        for (int k = 0; k < 8; ++k) {
            float right = tile[turn][k][x];
            sum += A[y * K + start + k] * right;
        }
        int next = 1 - turn;
        tile[next][y][x] = staged;
        __syncthreads();
        turn = next;
    }
    C[y * 8 + x] = sum;
}

// Three buffers in a ring: the barrier comes before the oldest is filled again.
extern "C" __global__ void racy_ring_of_three(const float* A, const float* B, float* C, int K) {
    __shared__ float tile[3][8][8];
    int x = threadIdx.x, y = threadIdx.y, turns = K / 8;
    float sum = 0.0f;
    tile[0][y][x] = B[y * 8 + x];
    tile[1][y][x] = B[(8 + y) * 8 + x];
    for (int turn = 0; turn < turns; ++turn) {
        if (turn + 2 < turns) tile[(turn + 2) % 3][y][x] = B[((turn + 2) * 8 + y) * 8 + x];  // race WAR tile @use
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float right = tile[turn % 3][k][x];  // @use
            sum += A[y * K + turn * 8 + k] * right;
        }
    }
    C[y * 8 + x] = sum;
}

extern "C" __global__ void clean_ring_of_three(const float* A, const float* B, float* C, int K) {
    __shared__ float tile[3][8][8];
    int x = threadIdx.x, y = threadIdx.y, turns = K / 8;
    float sum = 0.0f;
    tile[0][y][x] = B[y * 8 + x];
    tile[1][y][x] = B[(8 + y) * 8 + x];
    for (int turn = 0; turn < turns; ++turn) {
        __syncthreads();
        if (turn + 2 < turns) tile[(turn + 2) % 3][y][x] = B[((turn + 2) * 8 + y) * 8 + x];
        for (int k = 0; k < 8; ++k) {
            float right = tile[turn % 3][k][x];
            sum += A[y * K + turn * 8 + k] * right;
        }
    }
    C[y * 8 + x] = sum;
}

// Several blocks add their share of the sum to one element.
// launch: grid 1 1 2, block 8 8: in float32[8,16], in float32[16,8], inout float32[8,8], 16
extern "C" __global__ void racy_split_sum(const float* A, const float* B, float* C, int K) {
    int x = threadIdx.x, y = threadIdx.y, first = blockIdx.z * 8;
    float sum = 0.0f;
    for (int k = first; k < first + 8; ++k) sum += A[y * K + k] * B[k * 8 + x];
    C[y * 8 + x] += sum;  // race WAR C here; race WAW C here
}

extern "C" __global__ void clean_split_sum(const float* A, const float* B, float* C, int K) {
    int x = threadIdx.x, y = threadIdx.y, first = blockIdx.z * 8;
    float sum = 0.0f;
    for (int k = first; k < first + 8; ++k) sum += A[y * K + k] * B[k * 8 + x];
    atomicAdd(&C[y * 8 + x], sum);
}

// Two halves of a block share the work on each element, and one half adds up.
// launch: grid 1, block 8 8 2: in float32[8,16], in float32[16,8], out float32[8,8], 16
extern "C" __global__ void racy_split_in_block(const float* A, const float* B, float* C, int K) {
    __shared__ float share[2][8][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float sum = 0.0f;
    for (int k = 8 * z; k < 8 * z + 8; ++k) sum += A[y * K + k] * B[k * 8 + x];
    share[z][y][x] = sum;  // @share
    if (z == 0) C[y * 8 + x] = share[0][y][x] + share[1][y][x];  // race RAW share @share
}

extern "C" __global__ void clean_split_in_block(const float* A, const float* B, float* C, int K) {
    __shared__ float share[2][8][8];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float sum = 0.0f;
    for (int k = 8 * z; k < 8 * z + 8; ++k) sum += A[y * K + k] * B[k * 8 + x];
    share[z][y][x] = sum;
    __syncthreads();
    if (z == 0) C[y * 8 + x] = share[0][y][x] + share[1][y][x];
}

// A row of A for all: one thread per element of the product of a row and a matrix.
// launch: grid 2, block 64: in float32[128], in float32[128,128], out float32[128], 128
extern "C" __global__ void racy_row_times_matrix(const float* A, const float* B, float* C, int K) {
    __shared__ float part[64];
    int t = threadIdx.x, col = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 64) {
        part[t] = A[start + t];  // race WAR part @use
        __syncthreads();
        for (int k = 0; k < 64; ++k) sum += part[k] * B[(start + k) * 128 + col];  // @use
    }
    C[col] = sum;
}

extern "C" __global__ void clean_row_times_matrix(const float* A, const float* B, float* C, int K) {
    __shared__ float part[64];
    int t = threadIdx.x, col = blockIdx.x * 64 + t;
    float sum = 0.0f;
    for (int start = 0; start < K; start += 64) {
        __syncthreads();
        part[t] = A[start + t];
        __syncthreads();
        for (int k = 0; k < 64; ++k) sum += part[k] * B[(start + k) * 128 + col];
    }
    C[col] = sum;
}
