// The seven stages of a sum that lectures go through, of whole numbers, and what comes after them.

#define NUMBERS const int *in, int *out, int n

__global__ void stage_none(NUMBERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, in[i]);
}

// Stage 1: interleaved, by the remainder.
__global__ void stage_remainder(NUMBERS) {
    extern __shared__ int data[];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    data[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if ((tid % (2 * s)) == 0) data[tid] += data[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

// Stage 2: interleaved, by neighbouring threads.
__global__ void stage_interleaved(NUMBERS) {
    extern __shared__ int data[];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    data[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < blockDim.x) data[index] += data[index + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

// Stage 3: sequential.
__global__ void stage_sequential(NUMBERS) {
    extern __shared__ int data[];
    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    data[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = blockDim.x >> 1; s > 0; s >>= 1) {
        if (tid < s) data[tid] += data[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = data[0];
}

// Stage 4: the first addition while loading.
__global__ void stage_first_add(NUMBERS) {
    extern __shared__ int data[];
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + tid;
    int mine = i < n ? in[i] : 0;
    if (i + blockDim.x < n) mine += in[i + blockDim.x];
    data[tid] = mine;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) data[tid] = mine = mine + data[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = mine;
}

__device__ void last_warp(volatile int* data, int tid) {
    int x = data[tid];
    for (int s = 32; s > 0; s /= 2) {
        x += data[tid + s];
        __syncwarp();
        data[tid] = x;
        __syncwarp();
    }
}

// Stage 5: the last warp without barriers of the block.
__global__ void stage_last_warp(NUMBERS) {
    extern __shared__ int data[];
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + tid;
    data[tid] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
        if (tid < s) data[tid] += data[tid + s];
        __syncthreads();
    }
    if (tid < 32) last_warp(data, tid);
    if (tid == 0) out[blockIdx.x] = data[0];
}

template <unsigned THREADS>
__device__ void unrolled(int* data, unsigned tid) {
    if (THREADS >= 1024 && tid < 512) data[tid] += data[tid + 512];
    if (THREADS >= 1024) __syncthreads();
    if (THREADS >= 512 && tid < 256) data[tid] += data[tid + 256];
    if (THREADS >= 512) __syncthreads();
    if (THREADS >= 256 && tid < 128) data[tid] += data[tid + 128];
    if (THREADS >= 256) __syncthreads();
    if (THREADS >= 128 && tid < 64) data[tid] += data[tid + 64];
    if (THREADS >= 128) __syncthreads();
    if (tid < 32) last_warp(data, tid);
}

// Stage 6: everything unrolled, the block's size known.
__global__ void stage_unrolled(NUMBERS) {
    __shared__ int data[512];
    unsigned tid = threadIdx.x, i = blockIdx.x * 1024 + tid;
    data[tid] = (i < n ? in[i] : 0) + (i + 512 < n ? in[i + 512] : 0);
    __syncthreads();
    unrolled<512>(data, tid);
    if (tid == 0) out[blockIdx.x] = data[0];
}

// Stage 7: many elements to a thread.
__global__ void stage_many(NUMBERS) {
    __shared__ int data[128];
    unsigned tid = threadIdx.x, size = 256 * gridDim.x;
    int mine = 0;
    for (unsigned i = blockIdx.x * 256 + tid; i < n; i += size) {
        mine += in[i];
        if (i + 128 < n) mine += in[i + 128];
    }
    data[tid] = mine;
    __syncthreads();
    unrolled<128>(data, tid);
    if (tid == 0) out[blockIdx.x] = data[0];
}

// Afterwards: warps by one instruction, and an atomic for each.
__global__ void stage_warp_instruction(NUMBERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = __reduce_add_sync(0xffffffffu, i < n ? in[i] : 0);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// Four at a time and shuffles by halves; a warp's sum goes to shared memory, a block's to an atomic.
__global__ void stage_vector_shuffle(NUMBERS) {
    __shared__ int sums[32];
    int sum = 0, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const int4* fours = (const int4*)in;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        int4 v = fours[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) sum += in[n / 4 * 4 + threadIdx.x];
    for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0) sums[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = lane < warps ? sums[lane] : 0;
        for (int s = 16; s > 0; s >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, s);
        if (lane == 0) atomicAdd(out, sum);
    }
}

// The dot product of two vectors of doubles.
#define VECTORS const double *x, const double *y, double *out, int n

__global__ void inner_atomic(VECTORS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, x[i] * y[i]);
}

__global__ void inner_block(VECTORS) {
    __shared__ double products[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    products[threadIdx.x] = i < n ? x[i] * y[i] : 0.0;
    for (int s = 64; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s) products[threadIdx.x] += products[threadIdx.x + s];
    }
    if (threadIdx.x == 0) atomicAdd(out, products[0]);
}

__global__ void inner_stride(VECTORS) {
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

__global__ void inner_pairs(VECTORS) {
    const double2 *x2 = (const double2*)x, *y2 = (const double2*)y;
    double sum = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 2; i += gridDim.x * blockDim.x) {
        double2 u = x2[i], v = y2[i];
        sum = fma(u.x, v.x, fma(u.y, v.y, sum));
    }
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// The larger of all values.
__global__ void largest_atomic(NUMBERS) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(out, in[i]);
}

// A tree of blocks of 64, an atomic for each.
__global__ void largest_tree(NUMBERS) {
    __shared__ int best[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    best[t] = i < n ? in[i] : 0;
    for (int s = 32; s > 0; s /= 2) {
        __syncthreads();
        if (t < s && best[t + s] > best[t]) best[t] = best[t + s];
    }
    if (t == 0) atomicMax(out, best[0]);
}

__global__ void largest_shared(NUMBERS) {
    __shared__ int best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicMax(&best, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(out, best);
}

__global__ void largest_stride(NUMBERS) {
    int best = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) best = max(best, in[i]);
    best = __reduce_max_sync(~0u, best);
    if (threadIdx.x % 32 == 0) atomicMax(out, best);
}
