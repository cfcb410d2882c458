// Tiled matrix multiplication: what each barrier is for.
// launch: grid 2 2, block 8 8: in float32[15,20], in float32[20,13], out float32[15,13], 15, 20, 13

#define TILE 8

// The first barrier: tiles must be complete before anybody reads them.
extern "C" __global__ void racy_first_barrier(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int a = start + threadIdx.x, b = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;  // @a
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;  // @b
        for (int k = 0; k < TILE; ++k) {
            // 8 threads wide, a row lies in one warp: lanes share tileA, warps share tileB
            float x = tileA[threadIdx.y][k];  // race warning RAW tileA @a
            float y = tileB[k][threadIdx.x];  // race RAW tileB @b
            sum += x * y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" __global__ void clean_first_barrier(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int a = start + threadIdx.x, b = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float x = tileA[threadIdx.y][k];
            float y = tileB[k][threadIdx.x];
            sum += x * y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// The second barrier: everybody must have read the tiles before the next ones are written.
extern "C" __global__ void racy_second_barrier(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int a = start + threadIdx.x, b = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;  // race warning WAR tileA @ra
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;  // race WAR tileB @rb
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float x = tileA[threadIdx.y][k];  // @ra
            float y = tileB[k][threadIdx.x];  // @rb
            sum += x * y;
        }
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" __global__ void clean_second_barrier(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int a = start + threadIdx.x, b = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float x = tileA[threadIdx.y][k];
            float y = tileB[k][threadIdx.x];
            sum += x * y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// The second barrier placed after the loop instead of at its end.
extern "C" __global__ void racy_barrier_after_loop(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int a = start + threadIdx.x, b = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;  // race warning WAR tileA @a3
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;  // race WAR tileB @b3
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float x = tileA[threadIdx.y][k];  // @a3
            float y = tileB[k][threadIdx.x];  // @b3
            sum += x * y;
        }
    }
    __syncthreads();
    if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" __global__ void clean_barrier_after_loop(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE) {
        int a = start + threadIdx.x, b = start + threadIdx.y;
        tileA[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
        tileB[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float x = tileA[threadIdx.y][k];
            float y = tileB[k][threadIdx.x];
            sum += x * y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// Two tiles in turn need one barrier a turn; with a single tile the same code races.
extern "C" __global__ void racy_double_buffer(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tile[2][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x, turn = 0;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE, turn = 0) {
        int b = start + threadIdx.y;
        tile[turn][threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;  // race WAR tile @d
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float y = tile[turn][k][threadIdx.x];  // @d
            if (row < M && start + k < K) sum += A[row * K + start + k] * y;
        }
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" __global__ void clean_double_buffer(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tile[2][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x, turn = 0;
    float sum = 0.0f;
    for (int start = 0; start < K; start += TILE, turn = 1 - turn) {
        int b = start + threadIdx.y;
        tile[turn][threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float y = tile[turn][k][threadIdx.x];
            if (row < M && start + k < K) sum += A[row * K + start + k] * y;
        }
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

// Prefetching into the other tile: the barrier must stand between filling a tile and reading it.
extern "C" __global__ void racy_prefetch(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tile[2][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x, turn = 0;
    float sum = 0.0f;
    tile[0][threadIdx.y][threadIdx.x] = threadIdx.y < K && col < N ? B[threadIdx.y * N + col] : 0.0f;  // @p0
    for (int start = 0; start < K; start += TILE, turn = 1 - turn) {
        int b = start + TILE + threadIdx.y;
        tile[1 - turn][threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;  // @p1
        for (int k = 0; k < TILE; ++k) {
            float y = tile[turn][k][threadIdx.x];  // race RAW tile @p0
            if (row < M && start + k < K) sum += A[row * K + start + k] * y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" __global__ void clean_prefetch(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float tile[2][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x, turn = 0;
    float sum = 0.0f;
    tile[0][threadIdx.y][threadIdx.x] = threadIdx.y < K && col < N ? B[threadIdx.y * N + col] : 0.0f;
    __syncthreads();
    for (int start = 0; start < K; start += TILE, turn = 1 - turn) {
        int b = start + TILE + threadIdx.y;
        tile[1 - turn][threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        for (int k = 0; k < TILE; ++k) {
            float y = tile[turn][k][threadIdx.x];
            if (row < M && start + k < K) sum += A[row * K + start + k] * y;
        }
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
