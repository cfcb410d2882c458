// Prefix sums of pieces of 1024, inclusive, and of pieces of 512 whole numbers, exclusive.

#define LINE const float *in, float *out, int n

// A thread goes through a piece by itself.
__global__ void runs_thread(LINE) {
    int piece = blockIdx.x * blockDim.x + threadIdx.x;
    if (piece * 1024 >= n) return;
    float sum = 0.0f;
    for (int i = piece * 1024; i < piece * 1024 + 1024; i++) {
        sum += in[i];
        out[i] = sum;
    }
}

// Hillis and Steele, 1024 threads, in two arrays by turns.
__global__ void runs_hillis_steele(LINE) {
    __shared__ float data[2][1024];
    int t = threadIdx.x, from = 0;
    data[0][t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int d = 1; d < 1024; d <<= 1) {
        data[from ^ 1][t] = t >= d ? data[from][t] + data[from][t - d] : data[from][t];
        from ^= 1;
        __syncthreads();
    }
    out[blockIdx.x * 1024 + t] = data[from][t];
}

// Hillis and Steele in global memory: every step goes through the output array and comes back.
__global__ void runs_hillis_steele_global(LINE) {
    int i = blockIdx.x * 1024 + threadIdx.x;
    out[i] = in[i];
    __syncthreads();
    for (int d = 1; d < 1024; d <<= 1) {
        float before = threadIdx.x >= d ? out[i - d] : 0.0f;
        __syncthreads();
        out[i] += before;
        __syncthreads();
    }
}

// Blelloch: up and down, two elements of a thread, which keeps them to make it inclusive.
__global__ void runs_blelloch(LINE) {
    __shared__ float tree[1024];
    int t = threadIdx.x, offset = 1;
    const float* from = in + blockIdx.x * 1024;
    float a = from[2 * t], b = from[2 * t + 1];
    tree[2 * t] = a;
    tree[2 * t + 1] = b;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tree[1023] = 0.0f;
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            float v = tree[left];
            tree[left] = tree[right];
            tree[right] += v;
        }
    }
    __syncthreads();
    out[blockIdx.x * 1024 + 2 * t] = tree[2 * t] + a;
    out[blockIdx.x * 1024 + 2 * t + 1] = tree[2 * t + 1] + b;
}

// The same without conflicts: a word is left out after every thirty-two.
#define AT(i) ((i) + ((i) >> 5))
__global__ void runs_blelloch_padded(LINE) {
    __shared__ float tree[AT(1024) + 1];
    int t = threadIdx.x, offset = 1, base = blockIdx.x * 1024;
    float a = in[base + t], b = in[base + t + 512];
    tree[AT(t)] = a;
    tree[AT(t + 512)] = b;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) tree[AT(offset * (2 * t + 2) - 1)] += tree[AT(offset * (2 * t + 1) - 1)];
        offset *= 2;
    }
    if (t == 0) tree[AT(1023)] = 0.0f;
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = AT(offset * (2 * t + 1) - 1), right = AT(offset * (2 * t + 2) - 1);
            float v = tree[left];
            tree[left] = tree[right];
            tree[right] += v;
        }
    }
    __syncthreads();
    out[base + t] = tree[AT(t)] + a;
    out[base + t + 512] = tree[AT(t + 512)] + b;
}

__device__ float scanned_warp(float v, int lane) {
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        float before = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) v += before;
    }
    return v;
}

// Shuffles in all warps, then in the first of the warps' sums.
__global__ void runs_shuffle(LINE) {
    __shared__ float sums[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = blockIdx.x * 1024 + threadIdx.x;
    float v = scanned_warp(in[i], lane);
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) sums[lane] = scanned_warp(sums[lane], lane);
    __syncthreads();
    out[i] = warp > 0 ? v + sums[warp - 1] : v;
}

// A warp has a piece: thirty-two elements at a time, and carries on what it has.
__global__ void runs_warp(LINE) {
    int lane = threadIdx.x & 31, piece = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (piece * 1024 >= n) return;
    float carry = 0.0f;
    for (int i = piece * 1024 + lane; i < piece * 1024 + 1024; i += 32) {
        float v = scanned_warp(in[i], lane) + carry;
        out[i] = v;
        carry = __shfl_sync(0xffffffff, v, 31);
    }
}

// Eight neighbours of a thread, through shared memory so that loads and stores stay together.
__global__ void runs_eight(LINE) {
    __shared__ float data[128 * 9], sums[4];
    int t = threadIdx.x, lane = t & 31, base = blockIdx.x * 1024;
    for (int i = t; i < 1024; i += 128) data[i / 8 * 9 + i % 8] = in[base + i];
    __syncthreads();
    float own[8], sum = 0.0f;
    for (int k = 0; k < 8; k++) own[k] = sum += data[t * 9 + k];
    float before = scanned_warp(sum, lane);
    if (lane == 31) sums[t / 32] = before;
    __syncthreads();
    before -= sum;
    for (int w = 0; w < t / 32; w++) before += sums[w];
    for (int k = 0; k < 8; k++) data[t * 9 + k] = own[k] + before;
    __syncthreads();
    for (int i = t; i < 1024; i += 128) out[base + i] = data[i / 8 * 9 + i % 8];
}

#define WHOLE const int *in, int *out, int n

__global__ void before_naive(WHOLE) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = i / 512 * 512; k < i; k++) sum += in[k];
    if (i < n) out[i] = sum;
}

__global__ void before_hillis_steele(WHOLE) {
    __shared__ int data[512];
    int t = threadIdx.x, i = blockIdx.x * 512 + t;
    data[t] = t > 0 ? in[i - 1] : 0;
    for (int d = 1; d < 512; d *= 2) {
        __syncthreads();
        int sum = data[t];
        if (t >= d) sum += data[t - d];
        __syncthreads();
        data[t] = sum;
    }
    out[i] = data[t];
}

__global__ void before_shuffle(WHOLE) {
    __shared__ int sums[16];
    int t = threadIdx.x, i = blockIdx.x * 512 + t, own = in[i], v = own;
    for (int d = 1; d < 32; d *= 2) {
        int w = __shfl_up_sync(0xffffffff, v, d, 32);
        if (t % 32 >= d) v += w;
    }
    if (t % 32 == 31) sums[t / 32] = v;
    __syncthreads();
    if (t < 16) {
        int s = sums[t];
        for (int d = 1; d < 16; d *= 2) {
            int w = __shfl_up_sync(0xffff, s, d, 16);
            if (t >= d) s += w;
        }
        sums[t] = s;
    }
    __syncthreads();
    out[i] = v - own + (t >= 32 ? sums[t / 32 - 1] : 0);
}

// 128 threads, an int4 of each.
__global__ void before_fours(WHOLE) {
    __shared__ int sums[128];
    int t = threadIdx.x;
    int4 v = ((const int4*)in)[blockIdx.x * 128 + t];
    sums[t] = v.x + v.y + v.z + v.w;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int w = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += w;
        __syncthreads();
    }
    int first = t > 0 ? sums[t - 1] : 0;
    int4 result = make_int4(first, first + v.x, first + v.x + v.y, first + v.x + v.y + v.z);
    ((int4*)out)[blockIdx.x * 128 + t] = result;
}
