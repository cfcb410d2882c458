// Sparse matrices times vectors: rows of very different lengths (CSR), rows of sixteen in two orders (ELL).

#define CSR const int *start, const int *column, const float *value, const float *x, float *y, int rows

__global__ void csr_thread(CSR) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float dot = 0;
        int end = start[r + 1];
        for (int e = start[r]; e < end; e++) dot += value[e] * x[column[e]];
        y[r] = dot;
    }
}

template <int LANES>
__device__ void csr_lanes(CSR) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    float dot = 0;
    if (r < rows)
        for (int e = start[r] + lane; e < start[r + 1]; e += LANES) dot += value[e] * x[column[e]];
    for (int s = LANES / 2; s > 0; s /= 2) dot += __shfl_down_sync(0xffffffff, dot, s, LANES);
    if (r < rows && lane == 0) y[r] = dot;
}

__global__ void csr_warp(CSR) { csr_lanes<32>(start, column, value, x, y, rows); }
__global__ void csr_four(CSR) { csr_lanes<4>(start, column, value, x, y, rows); }

// A thread to an entry; the row is looked for by halving, sums are atomics.
__global__ void csr_entries(CSR) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= start[rows]) return;
    int low = 0, high = rows;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (start[middle] <= e)
            low = middle;
        else
            high = middle;
    }
    atomicAdd(&y[low], value[e] * x[column[e]]);
}

// Products go to shared memory in order; then a thread adds up each of the block's 64 rows.
__global__ void csr_staged(CSR) {
    __shared__ float products[1024];
    int first = blockIdx.x * 64, last = min(first + 64, rows), begin = start[first], end = start[last];
    int r = first + threadIdx.x;
    float dot = 0;
    for (int base = begin; base < end; base += 1024) {
        int count = min(1024, end - base);
        for (int e = threadIdx.x; e < count; e += blockDim.x) products[e] = value[base + e] * x[column[base + e]];
        __syncthreads();
        if (threadIdx.x < 64 && r < rows) {
            int from = max(start[r] - base, 0), to = min(start[r + 1] - base, count);
            for (int e = from; e < to; e++) dot += products[e];
        }
        __syncthreads();
    }
    if (threadIdx.x < 64 && r < rows) y[r] = dot;
}

#define ELL const int *column, const float *value, const float *x, float *y, int rows

__global__ void ell_rows(ELL) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float dot = 0;
    for (int k = 0; k < 16; k++) dot += value[16 * r + k] * x[column[16 * r + k]];
    y[r] = dot;
}

// The other order: the first entries of all rows, then the second.
__global__ void ell_columns(ELL) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float dot = 0;
    for (int k = 0; k < 16; k++) dot += value[k * rows + r] * x[column[k * rows + r]];
    y[r] = dot;
}

// Four entries of a row at a time.
__global__ void ell_vectors(ELL) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float4* v = (const float4*)value + 4 * r;
    const int4* c = (const int4*)column + 4 * r;
    float dot = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float4 a = v[k];
        int4 at = c[k];
        dot += a.x * x[at.x] + a.y * x[at.y] + a.z * x[at.z] + a.w * x[at.w];
    }
    y[r] = dot;
}
